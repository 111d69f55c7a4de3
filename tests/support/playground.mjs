// Runs the playground's pure functions in Node: an array of [name, argument] as JSON in argv[3]; the results as JSON.
import { readFileSync } from "node:fs";

const static_ = process.argv[2];
const { checkFiles, checkPath, hiddenLines, nameOf } = await import(`${static_}/playground/project-files.js`);
const { linkOf, readLink } = await import(`${static_}/playground/link.js`);
const { onlyText, pathOf, startFiles, uriOf } = await import(`${static_}/playground/language/files.js`);
const { WorkerTransport } = await import(`${static_}/playground/language/transport.js`);
const { zipOf } = await import(`${static_}/playground/zip.js`);
const { changedFiles, surplus } = await import(`${static_}/playground/versions.js`);
const { rawAddress } = await import(`${static_}/playground/addresses.js`);
const { exported } = await import(`${static_}/playground/export.js`);
const { asProject, importedFiles } = await import(`${static_}/playground/imported.js`);
const { PackageIndex } = await import(`${static_}/playground/package-index.js`);
const { resolve } = await import(`${static_}/playground/resolve.js`);
const { membersOf } = await import(`${static_}/playground/unzip.js`);

const { Relay } = await import(`${static_}/playground/relay.js`);
const { hostsOf, lacking } = await import(`${static_}/playground/server-page.js`);
const { needsOf } = await import(`${static_}/playground/python-code.js`);

/** What a relay posts to its host and its server, each with its target, for events of windows by name. */
const relayed = ({ hosts, events }) => {
  const posted = { host: [], server: [] };
  const windows = Object.fromEntries(
    Object.entries(posted).map(([name, list]) => [name, { postMessage: (data, target) => list.push([data, target]) }]),
  );
  const relay = new Relay(hosts, /** @type {any} */ (windows));
  for (const [name, origin, data] of events) relay.take({ source: windows[name], origin, data, ports: [] });
  return posted;
};
/** Replaces {bytes: base64} by the bytes. */
const withBytes = (files) =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      text?.bytes ? new Uint8Array(Buffer.from(text.bytes, "base64")) : text,
    ]),
  );
const withBase64 = (files) =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      typeof text === "string" ? text : { bytes: Buffer.from(text).toString("base64") },
    ]),
  );
const changed = ([before, after]) => changedFiles(withBytes(before), withBytes(after));
const { FORMS, namesFor, resultFor, schemaFor } = await import(`${static_}/playground/model/forms.js`);

const namesOf = (names) => [...namesFor(names)];
const given = ({ form, results }) => FORMS[form].give(results.map((result, at) => resultFor(`call-${at}`, result)));
const modelRead = ({ form, answer }) => {
  const { text, calls } = FORMS[form].read(answer);
  return { text, calls };
};
/** Returns the metadata of the wheels of a package, and their texts; null if no index has it. */
async function indexed({ name, patience, ...allowed }) {
  const index = new PackageIndex(allowed, new AbortController().signal, patience);
  const files = await index.files(name);
  if (!files) return null;
  const read = async (file) => [await index.metadata(file), (await index.wheel(file)).size];
  return Promise.all(files.map(read));
}
const zip = async (files) => Buffer.from(await zipOf(withBytes(files)).arrayBuffer()).toString("base64");
const there = async ({ name, files }) => {
  const found = /** @type {any} */ (await readLink(await linkOf({ name, files: withBytes(files) })));
  return { ...found, files: withBase64(found.files) };
};
const source = ([path, text]) => ({ path, size: text.length, read: async () => Buffer.from(text) });
const imported = async ([found, strip]) => withBase64(asProject(await importedFiles(found.map(source), { strip })));
const unzipped = async (base64) =>
  withBase64(await importedFiles(membersOf(new Uint8Array(Buffer.from(base64, "base64"))), { strip: true }));
const raw = ([address, origins]) => {
  const { url, ...others } = rawAddress(address, origins);
  return { url: url.href, ...others };
};
const exportedOf = ([project, path, template]) =>
  withBase64(exported(project, JSON.parse(readFileSync(path, "utf-8")), template));
const here = { packages: { mcp: "2.3.0", "pydantic-core": "2.50.4" }, python: "3.14.2" };
const lackingOf = (requirement) => lacking([requirement], here.packages, here.python);

/** Returns the wheels that are chosen, for an index by package: the files, each with what differs from an ordinary one. */
async function resolved({ requirements, index, tags, distribution = {} }) {
  const asked = [];
  const files = async (name) => {
    asked.push(name);
    if (!Object.hasOwn(index, name)) return null;
    return Object.entries(index[name]).map(([filename, { requires = "", ...more }]) => ({
      filename,
      url: new URL(`https://files.example/${filename}`),
      sha256: "a".repeat(64),
      size: 1,
      requiresPython: "",
      yanked: false,
      metadata: requires,
      ...more,
    }));
  };
  const source = { files, metadata: async ({ metadata }) => metadata };
  const wheels = await resolve(requirements, { ...here, tags, distribution }, /** @type {any} */ (source));
  return { wheels: wheels.map(({ filename, url }) => [filename, new URL(url).host]), asked };
}
const needs = (path) => JSON.parse(readFileSync(path, "utf-8")).map(needsOf);

const paths = (names) => names.map((name) => pathOf(uriOf(name)));

/** Returns what a worker and a client get: of what the client sends, of what the worker posts, and at the end. */
async function transported({ sent, posted }) {
  const [worker, client] = [new EventTarget(), []];
  const got = [];
  worker.postMessage = (message) => got.push(message);
  const transport = new WorkerTransport(worker);
  transport.subscribe((text) => client.push(JSON.parse(text)));
  for (const message of sent) transport.send(JSON.stringify(message));
  for (const data of posted) worker.dispatchEvent(Object.assign(new Event("message"), { data }));
  transport.end();
  transport.send(JSON.stringify(sent[0]));
  worker.dispatchEvent(Object.assign(new Event("message"), { data: posted[0] }));
  return { worker: got, client };
}

const started = ([project, stubs]) => startFiles(project, stubs);
const languageHelp = { onlyText, pathOf, paths, started, transported };
const functions = {
  ...languageHelp,
  indexed,
  lacking: lackingOf,
  resolved,
  exported: exportedOf,
  imported,
  raw,
  unzipped,
  changed,
  checkFiles,
  checkPath,
  hiddenLines,
  hostsOf,
  linkOf,
  nameOf,
  needs,
  readLink,
  relayed,
  surplus,
  there,
  zip,
  given,
  modelRead,
  namesOf,
  schemaFor,
};
const results = [];
for (const [name, argument] of JSON.parse(process.argv[3])) {
  try {
    results.push({ value: (await functions[name](argument)) ?? null });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
