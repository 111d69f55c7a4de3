/**
 * The peer of the start: Pyodide as its documentation loads it, wheels with loadPackage, compiled as it says, too. The
 * query names the project.
 */
import { followSize } from "../../../static/page/fitting.js";
import { loadPyodide } from "./pyodide/pyodide.mjs";

globalThis.mcpframeFollowSize = (report, isDrawn) => followSize(report, undefined, isDrawn); // a view reports its size

const project = location.search.slice(1);
const { config, wheels, modules } = await (await fetch(`${project}/stock.json`)).json();
const mark = (name) => performance.mark(`mcpframe:${name}`);

const complain = (title, detail) => console.error(`${title}\n${detail}`);

const page = {
  progress() {},
  ready() {},
  at_end() {},
  standalone() {},
  timing: () => "{}",
  fail: complain,
  problem: complain,
};

mark("script");
const pyodide = await loadPyodide();
mark("python");
await pyodide.loadPackage(
  wheels.map((name) => new URL(name, location.href).href),
  { messageCallback() {} },
);
mark("packages");
for (const name of modules) {
  pyodide.FS.writeFile(`/home/pyodide/${name}`, await (await fetch(`${project}/${name}`)).text());
}
const boot = pyodide.pyimport("mcpframe.frame.boot.boot");
mark("boot");
await boot.main(JSON.stringify(config), page);
