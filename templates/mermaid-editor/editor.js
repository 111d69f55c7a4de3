// Draws with Mermaid. It runs no script of a diagram ("strict"), and its labels are SVG text, which other programs show too.
import mermaid from "./npm/mermaid/dist/mermaid.esm.min.mjs";

const dark = matchMedia("(prefers-color-scheme: dark)");
let count = 0;
let shown = null;

function set(theme) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: theme === "dark" ? "dark" : "default",
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    suppressErrorRendering: true,
    fontFamily: "system-ui, sans-serif",
  });
}

/** Return the source as SVG text, for a light or a dark background. */
export async function svg(code, theme) {
  set(theme);
  return (await mermaid.render(`diagram-${++count}`, code)).svg;
}

/** Return the mistake in the source; empty for none. */
export async function mistake(code) {
  try {
    set("light");
    await mermaid.parse(code);
    return "";
  } catch (error) {
    return error.message;
  }
}

/** Draw the source into an element, and return its mistake; then the element keeps its picture. */
export async function show(code, element) {
  try {
    element.innerHTML = await svg(code, dark.matches ? "dark" : "light"); // Mermaid has sanitised it
    shown = code;
    return "";
  } catch (error) {
    return error.message;
  }
}

/** Draw again when the user changes between light and dark. */
export function onThemeChange(element) {
  dark.addEventListener("change", () => shown !== null && show(shown, element));
}
