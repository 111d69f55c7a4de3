// A tool as a form that is open at once, and keeps what was typed into it: its fields and its result are those of the element
// `<mcp-server>`, whose own tools are closed at first and forget their texts with the run. All texts are a stranger's.
import { callOnSubmit } from "../host/element-call.js";
import { makeForm } from "../host/element-form.js";
import { make } from "../host/element-parts.js";

let made = 0; // forms, for ids

/**
 * Returns the form of a tool.
 * @param {any} tool as `tools/list` returns it
 * @param {Map<string, string>} kept the texts of fields, by name; they outlive a run
 * @param {(args: Record<string, unknown>) => Promise<any>} call
 */
export function toolForm(tool, kept, call) {
  made += 1;
  const form = makeForm(tool.inputSchema, `tool-${made}`);
  for (const { name, input } of form.fields) keep(input, `${tool.name}\n${name}`, kept);
  const button = make("button", { type: "submit" }, "Call");
  const output = make("output", { class: "result" });
  form.element.className = "tool";
  form.element.prepend(
    make("h3", {}, make("code", {}, tool.name)),
    make("p", { class: "quiet", hidden: !tool.description }, tool.description ?? ""),
  );
  form.element.append(make("div", { class: "row" }, button), output);
  callOnSubmit(form, call, (state, parts) => {
    button.disabled = state === "calling";
    output.classList.toggle("bad", state === "failed");
    output.replaceChildren(...(button.disabled ? ["Running …"] : parts));
  });
  return form.element;
}

/** Puts the kept text into a field, if the field takes it, and keeps what is chosen or typed. */
function keep(input, key, kept) {
  if (input.multiple) return; // no text says which were chosen
  const isChoice = input instanceof HTMLSelectElement;
  const text = () => {
    if (isChoice) return input.selectedOptions[0]?.text ?? "";
    return input.type === "checkbox" ? String(input.checked) : input.value;
  };
  const before = kept.get(key);
  if (before !== undefined) {
    const option = isChoice ? [...input.options].find((each) => each.text === before) : null;
    if (option) option.selected = true;
    else if (input.type === "checkbox") input.checked = before === "true";
    else if (!isChoice) input.value = before;
    input.dispatchEvent(new Event("input")); // has it checked
  }
  input.addEventListener("input", () => kept.set(key, text()));
}
