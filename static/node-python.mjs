// Runs Python programs in one Pyodide under Node, for the build: node node-python.mjs JOB.json
// The job: { pyodide: folder, stdlib: file or null, env: {}, mounts: { "/path/in/python": folder }, archives: [{ file, to,
// libraries }], programs: [file], result: file }. Each program defines `async def main()`; what those return is written to
// the result file as a list, JSON. An error of one is printed and ends with status 1.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const job = JSON.parse(await readFile(process.argv[2], "utf8"));
const { loadPyodide } = await import(pathToFileURL(join(job.pyodide, "pyodide.mjs")).href);

const pyodide = await loadPyodide({
  indexURL: job.pyodide,
  env: job.env,
  ...(job.stdlib ? { stdLibURL: job.stdlib } : {}),
});
for (const [path, folder] of Object.entries(job.mounts)) pyodide.mountNodeFS(path, folder);
for (const { file, to, libraries } of job.archives) {
  pyodide.FS.mkdirTree(to);
  pyodide.unpackArchive(new Uint8Array(await readFile(file)), "zip", { extractDir: to });
  for (const library of libraries) await pyodide._api.loadDynlib(`${to}/${library}`);
}

try {
  const results = [];
  for (const program of job.programs) {
    pyodide.runPython(await readFile(program, "utf8"), { filename: program });
    results.push(await pyodide.runPythonAsync("import json; json.dumps(await main())"));
  }
  await writeFile(job.result, `[${results.join(",")}]`);
} catch (error) {
  // Not the whole of Pyodide's JavaScript, which Node would print with an uncaught error.
  console.error(error?.message ?? String(error));
  process.exit(1);
}
process.exit(0);
