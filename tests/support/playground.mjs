// Runs the playground's pure functions in Node: an array of [name, argument] as JSON in argv[3]; the results as JSON.
const static_ = process.argv[2];
const { checkFiles, checkPath, hiddenLines } = await import(`${static_}/playground/project-files.js`);
const { linkOf, nameOf, readLink } = await import(`${static_}/playground/link.js`);
const { zipOf } = await import(`${static_}/playground/zip.js`);

const { Relay } = await import(`${static_}/playground/relay.js`);
const { hostsOf } = await import(`${static_}/playground/server-page.js`);

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
const zip = async (files) => Buffer.from(await zipOf(files).arrayBuffer()).toString("base64");
const there = async (project) => readLink(await linkOf(project));
const functions = { checkFiles, checkPath, hiddenLines, hostsOf, linkOf, nameOf, readLink, relayed, there, zip };
const results = [];
for (const [name, argument] of JSON.parse(process.argv[3])) {
  try {
    results.push({ value: (await functions[name](argument)) ?? null });
  } catch (error) {
    results.push({ error: error.message });
  }
}
console.log(JSON.stringify(results));
