// A project as `mcpframe new` makes one: with tests, workflows and a README, where it has none of its own.
import { parse } from "smol-toml";
import { changedFiles } from "./versions.js";

const CONFIG = "pyproject.toml";
const ORIGINS = 'allowed_origins = ["http://localhost:8000"]';

/**
 * @typedef {object} Parts what the site's build gives to every export
 * @property {Record<string, string>} common texts by path, with `{name}` and `{title}`
 * @property {Record<string, Record<string, string>>} tests of each template
 */

/**
 * Returns the files of a project, and those that it lacks.
 * @param {{ name: string, files: Record<string, string | Uint8Array> }} project
 * @param {Parts} parts
 * @param {{ name: string, files: Record<string, string> }} [template] the one that the project was made of
 * @returns {Record<string, string | Uint8Array>}
 */
export function exported({ name, files }, parts, template) {
  const paths = Object.keys(files);
  const isNew = (path) => !paths.some((each) => each.toLowerCase() === path.toLowerCase());
  const values = { name: projectName(name), title: name };
  const common = Object.entries(parts.common).map(([path, text]) => [
    path,
    text.replace(/\{(name|title)\}/g, (_, key) => values[key]),
  ]);
  // The tests of a template are of another server once it has been changed.
  const isSame = template && !changedFiles(template.files, files).length;
  const hasTests = paths.some((path) => /^tests\/|(^|\/)test_[^/]*\.py$/i.test(path));
  const contents = { ...files };
  for (const [path, text] of common)
    if (isNew(path) && !(path.startsWith("tests/") && (isSame || hasTests))) contents[path] = text;
  if (isSame) Object.assign(contents, parts.tests[template.name]);
  if (Object.hasOwn(files, CONFIG)) contents[CONFIG] = completed(String(files[CONFIG]), values.name);
  return contents;
}

/** Returns a project's name for pyproject.toml. */
function projectName(name) {
  const ascii = name.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const short = ascii.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, "");
  return short.toLowerCase() || "server";
}

/** Returns a configuration with what a build needs besides what it has, or as it is if that cannot be said. */
function completed(text, name) {
  const ended = text.endsWith("\n") || !text ? text : `${text}\n`;
  let result = ended;
  try {
    const toml = /** @type {any} */ (parse(text));
    if (!toml.project) result += `\n[project]\nname = "${name}"\nversion = "0.1.0"\ndependencies = ["mcpframe"]\n`;
    if (!toml.tool?.mcpframe) result += `\n[tool.mcpframe]\n${ORIGINS}\n`;
    else if (!("allowed_origins" in toml.tool.mcpframe))
      result = result.replace(/^\[tool\.mcpframe\][^\S\n]*(#.*)?$/m, (line) => `${line}\n${ORIGINS}`);
    parse(result);
    return result;
  } catch {
    return text;
  }
}
