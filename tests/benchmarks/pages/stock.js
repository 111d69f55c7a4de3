/** The peer of the start: Pyodide as its documentation loads it, wheels with loadPackage, sources as .py. */
import { loadPyodide } from "./pyodide/pyodide.mjs";

const { config, wheels, modules } = await (await fetch("stock.json")).json();
const mark = (name) => performance.mark(`mcpframe:${name}`);

const page = {
  progress() {},
  ready() {},
  standalone() {},
  timing: () => "{}",
  fail(title, detail) {
    console.error(`${title}\n${detail}`);
  },
};

mark("script");
const pyodide = await loadPyodide();
mark("python");
await pyodide.loadPackage(wheels.map((name) => new URL(name, location.href).href), { messageCallback() {} });
mark("packages");
for (const name of modules) {
  pyodide.FS.writeFile(`/home/pyodide/${name}`, await (await fetch(name)).text());
}
const boot = pyodide.pyimport("mcpframe.frame.boot");
mark("boot");
await boot.main(JSON.stringify(config), page);
