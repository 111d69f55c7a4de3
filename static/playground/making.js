// Makes a ready bundle of a project, by the pure part of the build on the donor. Two frames of opaque origin do it, one
// after the other's first half: the maker has the build, and never runs the project's code; the other imports the
// project's server, and describes it.
import { visible } from "../host/visible.js";
import { fromBase64, packed } from "./bytes.js";
import { element, notice, refusedInFrame, save } from "./page.js";
import { checkFiles, ProjectError } from "./project-files.js";
import { needsOf } from "./python-code.js";
import { RunFrame } from "./run-frame.js";
import { Run } from "./running.js";
import { configOf, pageOf } from "./server-page.js";
import { Deflated, zipOf } from "./zip.js";

const DONOR = "playground"; // the folder of the donor's bundle
const MAKER = "playground_maker";
const DESCRIBING = ["playground_describe.py", "playground_import_server.py"];

/**
 * Makes and saves the bundle of a project.
 * @param {import("./store.js").Project} project
 * @param {import("./donor.js").Donor} donor
 */
export async function downloadBundle(project, donor) {
  if (refusedInFrame()) return;
  const stopping = new AbortController();
  const place = document.body.appendChild(element("div", { hidden: true }));
  const say = (text) => notice(text, { Stop: () => stopping.abort() });
  try {
    say("Fetching what a bundle is made with …");
    const { name, files, hasSnapshot, warnings, seconds } = await bundleOf(project, donor, place, say, stopping.signal);
    const zip = zipOf(files);
    save(zip, `${name}-bundle.zip`);
    const from = hasSnapshot
      ? `It starts from a snapshot of the SDK, in about ${seconds} s here; mcpframe build takes one of the server, too.`
      : `It has no snapshot, and starts in about ${seconds} s here; mcpframe build takes one.`;
    notice(
      [
        `${name}-bundle.zip has ${(zip.size / 1e6).toFixed(1)} MB: any web server can serve its files.`,
        from,
        ...warnings,
      ]
        .map(visible)
        .join(" "),
    );
  } catch (error) {
    if (stopping.signal.aborted) return;
    notice("");
    throw error;
  } finally {
    place.remove();
  }
}

async function bundleOf({ name, files: given }, donor, place, say, signal) {
  const project = checkFiles(given);
  configOf(project); // says where it is no TOML
  const [first, later, others, tools, index] = await Promise.all([
    donor.first().then(({ files }) => files),
    donor.later(),
    donor.others(),
    donor.get("maker/files.json").then((response) => response.json()),
    donor.get(`bundle/${DONOR}/index.html`).then((response) => response.blob()),
  ]);
  const there = { [`${DONOR}/index.html`]: index };
  for (const [url, blob] of Object.entries({ ...first, ...later, ...others }))
    there[new URL(url, `https://donor.invalid/${DONOR}/`).pathname.slice(1)] = blob;
  const packing = packedFiles(there, JSON.parse(await others["manifest.json"].text()));
  packing.catch(() => {}); // awaited later
  say("Checking the project …");
  const files = { ...tools.texts };
  for (const [path, text] of Object.entries(tools.bytes)) files[path] = fromBase64(text);
  for (const [path, blob] of Object.entries(there)) files[`lent/${path}`] = await bytesOf(blob);
  const folder = `project/${name.replace(/[^\p{L}\p{N}._-]+/gu, "-")}/`;
  for (const [path, content] of Object.entries(project)) files[folder + path] = content;
  const describing = DESCRIBING.map((path) => [path, files[path]]);
  const maker = await started(place, await pageOf(donor, settingsOf(MAKER, files, false)), signal);
  try {
    const checked = await maker.ask("check", {});
    say("Importing the server …");
    const began = performance.now();
    const report = checked.imports
      ? await reportOn(checked, Object.fromEntries(describing), project, donor, place, signal)
      : null;
    const seconds = Math.max((performance.now() - began) / 1000, 0.1).toFixed(1);
    say("Making the bundle …");
    const gzips = await packing;
    const sizes = Object.fromEntries(Object.keys(there).map((path) => [path, gzips[path]?.length ?? null]));
    const { made, packed: ownPacked, lent: kept, ...others } = await maker.ask("make", { report, lent: sizes });
    const zipped = {};
    const add = async (path, content, gzip) => {
      zipped[path] = gzip ? new Deflated(gzip) : await content();
      if (gzip) zipped[`${path}.gz`] = gzip;
    };
    for (const [path, text] of Object.entries(made))
      await add(path, () => fromBase64(text), ownPacked[path] && fromBase64(ownPacked[path]));
    for (const path of kept) await add(path, () => bytesOf(there[path]), gzips[path]);
    return { ...others, hasSnapshot: others.has_snapshot, files: zipped, seconds };
  } finally {
    maker.end();
  }
}

const settingsOf = (module, files, inPage, world = false) => ({
  entry: `${module}:server`,
  name: module,
  title: module,
  files,
  inPage,
  world,
});

/** Imports the project's server in a frame of its own, and returns the build's report on it. */
async function reportOn({ entry, source, paths, environment, timeout }, describing, project, donor, place, signal) {
  const content = (path) => project[source + path] ?? project[path];
  const files = { ...Object.fromEntries(paths.map((path) => [path, content(path)])), ...describing };
  const needs = needsOf(Object.values(files).filter((each) => typeof each === "string"));
  const [module] = DESCRIBING[0].split(".");
  const page = await pageOf(donor, settingsOf(module, files, needs.page, environment.world));
  const late = new ProjectError(`Importing the server took more than ${timeout} seconds: it must not run for ever.`);
  const run = await started(place, page, signal);
  const limit = AbortSignal.timeout(timeout * 1000);
  const over = new Promise((_, reject) => limit.addEventListener("abort", () => reject(late)));
  try {
    return await Promise.race([run.ask("describe", { entry, environment }), over]);
  } finally {
    run.end();
  }
}

/** Starts one of the servers in a frame, which stays until `end`. An abort ends what is asked of it. */
async function started(place, page, signal) {
  const frame = place.appendChild(element("div"));
  let fail;
  const failing = new Promise((_, reject) => (fail = reject));
  failing.catch(() => {}); // nothing may be asked any more
  const run = new Run({
    log() {},
    problem: (title, detail) => fail(new ProjectError(`The bundle cannot be made: ${title} ${visible(detail)}`)),
    closed: () => fail(new ProjectError("The bundle cannot be made: a page that works for it has ended.")),
    changed() {},
  });
  const end = () => {
    run.end();
    frame.remove();
  };
  signal.addEventListener("abort", () => fail(new ProjectError("Stopped.")), { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([run.start(new RunFrame(frame, page), page.later), failing]);
  } catch (error) {
    end();
    throw error;
  }
  const ask = async (tool, args) => {
    const { content, isError } = await Promise.race([run.call(tool, args), failing]);
    if (isError) throw new ProjectError(`The bundle cannot be made: ${visible(content[0].text)}`);
    const answer = JSON.parse(content[0].text);
    if (typeof answer.made !== "object" && typeof answer.error === "string" && tool !== "describe")
      throw new ProjectError(visible(answer.error));
    return answer;
  };
  return { ask, end };
}

/** Returns those of the donor's files as gzip that its build has as gzip, too. */
async function packedFiles(files, { files: entries }) {
  const worthIt = entries.filter(({ path, gzip_bytes: size }) => size !== null && files[path]);
  return Object.fromEntries(
    await Promise.all(worthIt.map(async ({ path }) => [path, await packed(files[path], "gzip")])),
  );
}

const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());
