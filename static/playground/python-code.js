// What a server's Python code needs of its page, from the syntax of its files. The build asks the same of its own syntax
// trees: `uses_of_page` in kit/bundle/code/page_use.py, `written_for_a_process` in kit/bundle/assembly/features.py.
import { parser } from "@lezer/python";

const SERVERS = ["FrameServer", "wrap"]; // whose results have a page
const OF_PAGES = ["session", "setup", "ui"];
const OF_SESSIONS = ["id", "origin", "storage", "closed"]; // which a worker has, too
const OF_PROCESSES = ["_thread", "concurrent", "multiprocessing", "queue", "resource", "threading"];
const BROWSER = ["js", "pyodide", "pyodide_js"];

let facts = new Map(); // of the sources that were asked for last: most are the same in the next run

/**
 * Returns what the Python files of a server need of their page.
 * @param {string[]} sources
 * @returns {{ page: boolean, process: boolean }} `page`: the server draws, or uses its page or the browser's modules, so
 *   it cannot run in a worker. `process`: it needs the environment of a process.
 */
export function needsOf(sources) {
  const known = new Map(sources.map((source) => [source, facts.get(source) ?? factsOf(source)]));
  facts = known;
  const files = [...known.values()];
  const all = (name) => new Set(files.flatMap((each) => [...each[name]]));
  const [imports, servers] = [all("imports"), all("servers")];
  return {
    page:
      BROWSER.some((name) => imports.has(name)) ||
      files.some(({ uses }) => uses.some(([owner, name, then]) => isOfPage(name, then) && servers.has(owner))),
    process: OF_PROCESSES.some((name) => imports.has(name)),
  };
}

const isOfPage = (name, then) => OF_PAGES.includes(name) && !OF_SESSIONS.includes(then);

/** Returns the top packages that a file imports, the names that it gives to servers, and all `owner.name.then` in it. */
function factsOf(source) {
  const [imports, servers, uses] = [new Set(), new Set(), []];
  const text = (node) => source.slice(node.from, node.to);
  parser.parse(source).iterate({
    enter({ name, node }) {
      if (name === "ImportStatement") for (const each of imported(children(node), text)) imports.add(each);
      else if (name === "AssignStatement") for (const each of named(children(node), text)) servers.add(each);
      else if (name === "Decorator") {
        const names = children(node).flatMap((each) => (each.name === "VariableName" ? [text(each)] : []));
        for (let at = 1; at < names.length; at += 1) uses.push(names.slice(at - 1, at + 2));
      } else if (name === "MemberExpression" && attribute(node)) {
        const around = outside(node);
        const then = around?.name === "MemberExpression" && attribute(around);
        uses.push([lastName(node.firstChild, text), text(attribute(node)), then ? text(then) : ""]);
      }
    },
  });
  return { imports, servers, uses };
}

/** Yields the top packages of an import; a relative one is of the author's own. */
function* imported(parts, text) {
  const [from, first] = parts;
  if (from.name === "from") return first.name === "VariableName" && (yield text(first));
  for (const [at, part] of parts.entries())
    if (part.name === "VariableName" && ["import", ","].includes(parts[at - 1].name)) yield text(part);
}

/** Yields the names that an assignment gives to a new server. */
function* named(parts, text) {
  const groups = [[]];
  for (const part of parts)
    if (part.name === "AssignOp") groups.push([]);
    else if (part.name !== "TypeDef") groups.at(-1).push(part);
  const [last, ...others] = groups.pop();
  const value = bare(last);
  if (value?.name !== "CallExpression" || others.length || !SERVERS.includes(lastName(value.firstChild, text))) return;
  for (const [target, ...more] of groups) if (target && !more.length) yield lastName(target, text);
}

/** Returns the name of a variable or an attribute, an index after it left out; an empty text of anything else. */
function lastName(node, text) {
  const inner = bare(node);
  if (inner?.name === "VariableName") return text(inner);
  if (inner?.name !== "MemberExpression") return "";
  const name = attribute(inner);
  return name ? text(name) : lastName(inner.firstChild, text);
}

/** Returns the name node of `owner.name`; undefined for `owner[…]`. */
const attribute = (node) => children(node).find(({ name }) => name === "PropertyName");

function bare(node) {
  let inner = node;
  while (inner?.name === "ParenthesizedExpression") inner = inner.firstChild.nextSibling;
  return inner;
}

/** Returns what an expression is the first part of. */
function outside(node) {
  let inner = node;
  while (inner.parent?.name === "ParenthesizedExpression") inner = inner.parent;
  const { parent } = inner;
  return parent && parent.firstChild.from === inner.from ? parent : null;
}

function children(node) {
  const nodes = [];
  for (let child = node.firstChild; child; child = child.nextSibling) nodes.push(child);
  return nodes;
}
