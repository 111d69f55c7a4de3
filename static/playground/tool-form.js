// A tool as a form: a field for each argument of its JSON Schema. Names, descriptions and results are a stranger's text.
import { visible } from "../host/visible.js";
import { element } from "./page.js";

/**
 * Returns the form of a tool.
 * @param {any} tool as `tools/list` returns it
 * @param {Map<string, string>} kept the texts of fields, by name; they outlive a run
 * @param {(args: Record<string, unknown>) => Promise<any>} call
 */
export function toolForm(tool, kept, call) {
  const schema = tool.inputSchema ?? {};
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) =>
    field(tool.name, name, property, required.has(name), kept),
  );
  const button = element("button", { type: "submit", textContent: "Call" });
  const output = element("output", { className: "result" });
  const form = element(
    "form",
    { className: "tool" },
    element("h3", {}, element("code", { textContent: visible(tool.name) })),
    element("p", { className: "quiet", textContent: visible(tool.description ?? "") }),
    ...fields.map(({ label }) => label),
    element("div", { className: "row" }, button),
    output,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let args;
    try {
      args = Object.fromEntries(fields.flatMap(({ name, read }) => read().map((value) => [name, value])));
    } catch (error) {
      show(output, error.message, true);
      return;
    }
    button.disabled = true;
    show(output, "Running …", false);
    try {
      const result = await call(args);
      output.replaceChildren(...contentOf(result));
      output.classList.toggle("bad", Boolean(result.isError));
    } catch (error) {
      show(output, error.message, true);
    } finally {
      button.disabled = false;
    }
  });
  return form;
}

function show(output, text, isBad) {
  output.classList.toggle("bad", isBad);
  output.replaceChildren(element("pre", { textContent: visible(text) }));
}

function field(tool, name, property, isRequired, kept) {
  const key = `${tool}\n${name}`;
  const type = typeOf(property);
  const choices = property.enum ?? (type === "boolean" ? ["true", "false"] : null);
  const input = choices
    ? element(
        "select",
        {},
        ...(isRequired ? [] : [element("option", { value: "", textContent: "" })]),
        ...choices.map((each) => element("option", { value: String(each), textContent: visible(String(each)) })),
      )
    : type === "string"
      ? element("input", { type: "text", autocomplete: "off" })
      : type === "number" || type === "integer"
        ? element("input", { type: "number", step: type === "integer" ? "1" : "any" })
        : element("textarea", { rows: 3, placeholder: "JSON", spellcheck: false });
  const usual =
    property.default === undefined
      ? ""
      : typeof property.default === "string"
        ? property.default
        : JSON.stringify(property.default);
  /** @type {any} */ (input).value = kept.get(key) ?? usual;
  if (/** @type {any} */ (input).selectedIndex === -1) /** @type {any} */ (input).selectedIndex = 0;
  /** @type {any} */ (input).required = isRequired && type !== "string";
  input.addEventListener("input", () => kept.set(key, /** @type {any} */ (input).value));
  const read = () => {
    const text = /** @type {any} */ (input).value;
    if (text === "" && !(isRequired && type === "string")) return [];
    if (property.enum) return [property.enum.find((each) => String(each) === text)];
    if (type === "string") return [text];
    try {
      return [JSON.parse(text)];
    } catch {
      throw new Error(`${visible(name)} is not JSON.`);
    }
  };
  const hint = property.description
    ? [element("span", { className: "quiet", textContent: visible(property.description) })]
    : [];
  return { name, read, label: element("label", {}, element("span", { textContent: visible(name) }), input, ...hint) };
}

/** Returns the type of a property; `null` beside one is what an empty field leaves out. */
function typeOf({ type, anyOf = [] }) {
  const types = [type, ...anyOf.map((each) => each.type)].flat().filter((each) => each && each !== "null");
  return types.length === 1 ? types[0] : "any";
}

/** Returns elements for the content of a result. */
function contentOf({ content = [], structuredContent }) {
  const shown = content.map((part) => {
    if (part.type === "text") return element("pre", { textContent: visible(part.text) });
    if (part.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(part.mimeType)) {
      return element("img", { src: `data:${part.mimeType};base64,${part.data}`, alt: "The tool's picture" });
    }
    return element("pre", { textContent: visible(JSON.stringify(part, null, 2)) });
  });
  if (!shown.length)
    shown.push(
      element("pre", {
        textContent: structuredContent ? visible(JSON.stringify(structuredContent, null, 2)) : "Done.",
      }),
    );
  return shown;
}
