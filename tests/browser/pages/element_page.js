/** A page with `<mcp-server>`; the test adds the elements, and reads the events that reach the document. */
import "./element.js";

window.events = [];
for (const name of ["mcp-ready", "mcp-result", "mcp-error"]) {
  document.addEventListener(name, ({ detail, composed }) => {
    const { tools, result, arguments: args, error } = detail;
    events.push({
      name,
      tool: detail.name,
      composed,
      tools: tools?.map((tool) => tool.name),
      args,
      result,
      error: error?.message,
    });
  });
}
window.add = (attributes, picture) => {
  const element = document.createElement("mcp-server");
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (picture) element.append(Object.assign(document.createElement("p"), { textContent: picture }));
  document.querySelector("main").append(element);
};
