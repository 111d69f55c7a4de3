/**
 * Forms for the arguments of tools. Objects, arrays and unions are entered as JSON.
 *
 * The browser checks what its own controls can: required, types, bounds, lengths. The server checks everything. Patterns
 * are left to it, too: a hostile one would block the host's page for minutes.
 */

import { make } from "./element-parts.js";
import { visible } from "./visible.js";

/** Types of controls, by the `format` of a string. */
const FORMATS = { date: "date", email: "email", uri: "url", url: "url", password: "password" };
/** Formats of texts of several lines, and the length from which a default is one. */
const LONG_FORMATS = ["textarea", "multiline", "markdown", "html", "code", "json"];
const LONG = 60;
/** The most references that are followed to one schema. */
const MOST_REFERENCES = 20;
/** A schema with more is entered as JSON: thousands of controls would block the host's page. */
const MOST_CHOICES = 500;
const MOST_FIELDS = 200;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const textOf = (value) => (typeof value === "string" ? value : "");

/** Resolve a schema's references into its document, and a union of one schema with `null`. */
function resolve(schema, root) {
  let found = isObject(schema) ? schema : {};
  for (let left = MOST_REFERENCES; left; left--) {
    const { $ref, anyOf, oneOf, ...own } = found;
    if (textOf($ref).startsWith("#/")) {
      const target = pointed($ref, root);
      if (!isObject(target)) break;
      found = { ...target, ...own };
      continue;
    }
    const options = anyOf ?? oneOf;
    const others = Array.isArray(options) ? options.filter((option) => isObject(option) && option.type !== "null") : [];
    if (others.length !== 1) break;
    found = { ...others[0], ...own };
  }
  return found;
}

function pointed(reference, root) {
  let at = root;
  for (const key of reference
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))) {
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

/** Return the choices of a schema as pairs of a value and its title; null if it has none. */
function choicesOf(schema) {
  const options = schema.oneOf ?? schema.anyOf;
  if (
    Array.isArray(options) &&
    options.length &&
    options.length <= MOST_CHOICES &&
    options.every((option) => isObject(option) && "const" in option)
  ) {
    return options.map((option) => [option.const, textOf(option.title)]);
  }
  const values = "const" in schema ? [schema.const] : schema.enum;
  return Array.isArray(values) && values.length <= MOST_CHOICES ? values.map((value) => [value, ""]) : null;
}

function choice(schema, choices) {
  const select = make("select", {}, make("option", { value: "" }));
  choices.forEach(([value, title], at) => {
    const option = make(
      "option",
      { value: String(at) },
      title || (typeof value === "string" ? value : JSON.stringify(value)),
    );
    option.defaultSelected = "default" in schema && JSON.stringify(value) === JSON.stringify(schema.default);
    select.append(option);
  });
  select.value = [...select.options].find((option) => option.defaultSelected)?.value ?? "";
  return { input: select, read: () => (select.value === "" ? undefined : choices[Number(select.value)][0]) };
}

function truth(schema, _, required) {
  const input = make("input", { type: "checkbox" });
  input.checked = input.defaultChecked = schema.default === true;
  // Unticked and unmentioned is left out, so that the server's own default applies.
  return { input, read: () => (input.checked || required || schema.default === true ? input.checked : undefined) };
}

function number(schema) {
  const whole = schema.type === "integer";
  const input = make("input", { type: "number", step: whole ? "1" : "any", inputmode: whole ? "numeric" : "decimal" });
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (isNumber(minimum)) input.min = String(whole ? Math.ceil(minimum) : minimum);
  else if (whole)
    input.min = String(isNumber(exclusiveMinimum) ? Math.floor(exclusiveMinimum) + 1 : Number.MIN_SAFE_INTEGER);
  if (isNumber(maximum)) input.max = String(whole ? Math.floor(maximum) : maximum);
  else if (whole)
    input.max = String(isNumber(exclusiveMaximum) ? Math.ceil(exclusiveMaximum) - 1 : Number.MAX_SAFE_INTEGER);
  if (isNumber(schema.default)) input.value = input.defaultValue = String(schema.default);
  return { input, read: () => (input.value === "" ? undefined : input.valueAsNumber) };
}

function text(schema) {
  const start = textOf(schema.default);
  const type = FORMATS[Object.hasOwn(FORMATS, schema.format) ? schema.format : ""];
  const long = LONG_FORMATS.includes(schema.format) || start.length > LONG || start.includes("\n");
  const plain = long ? make("textarea", { rows: "4" }) : make("textarea", { rows: "1", enterkeyhint: "send" });
  const input = type ? make("input", { type }) : plain;
  // As attributes: unlike the properties, they take any number.
  if (isNumber(schema.maxLength)) input.setAttribute("maxlength", String(schema.maxLength));
  if (isNumber(schema.minLength)) input.setAttribute("minlength", String(schema.minLength));
  input.value = input.defaultValue = start;
  return { input, read: () => (input.value === "" ? undefined : input.value) };
}

function json(schema) {
  const input = make("textarea", { rows: "2", class: "json", spellcheck: "false" });
  const check = () => {
    let problem = "";
    try {
      const value = input.value.trim() ? JSON.parse(input.value) : undefined;
      if (value !== undefined && schema.type === "array" && !Array.isArray(value))
        problem = "A JSON array, such as [1, 2].";
      if (value !== undefined && schema.type === "object" && !isObject(value))
        problem = 'A JSON object, such as {"a": 1}.';
    } catch (error) {
      problem = `Not JSON: ${error.message}`;
    }
    input.setCustomValidity(problem);
  };
  input.addEventListener("input", check);
  if (schema.default !== undefined && schema.default !== null) {
    input.value = input.defaultValue = JSON.stringify(schema.default, null, 2);
  }
  check();
  return { input, read: () => (input.value.trim() ? JSON.parse(input.value) : undefined) };
}

const CONTROLS = { boolean: truth, integer: number, number, string: text };

/** One argument: its label, control, description, and the problem with what was entered. */
class Field {
  /**
   * @param {string} name of the argument
   * @param {any} schema
   * @param {boolean} required
   * @param {string} id unlike all others in the shadow root
   */
  constructor(name, schema, required, id) {
    const choices = choicesOf(schema);
    const control = Object.hasOwn(CONTROLS, schema.type) ? CONTROLS[schema.type] : json;
    const { input, read } = choices ? choice(schema, choices) : control(schema, id, required);
    this.name = name;
    this.input = input;
    this.read = read;
    input.id = id;
    input.part.add("input");
    const checkbox = input.type === "checkbox";
    input.required = required && !checkbox;
    const label = make("label", { for: id, part: "label" }, textOf(schema.title).trim() || name);
    if (!required) label.append(" ", make("span", {}, "(optional)"));
    const hint = make("p", { id: `${id}-hint`, class: "hint", part: "hint", hidden: !schema.description });
    hint.textContent = visible(textOf(schema.description));
    this.problem = make("p", { id: `${id}-problem`, class: "problem", part: "problem", hidden: true });
    input.setAttribute("aria-describedby", `${hint.id} ${this.problem.id}`);
    this.element = make(
      "div",
      { class: checkbox ? "field check" : "field", part: "field" },
      label,
      input,
      hint,
      this.problem,
    );
    // A problem goes as soon as it is mended; a new one is said at the next submission.
    input.addEventListener("input", () => this.problem.hidden || this.check());
  }

  /** Show the problem, if there is one, and return whether there is none. */
  check() {
    const { validationMessage } = this.input;
    this.problem.textContent = validationMessage;
    this.problem.hidden = !validationMessage;
    this.input.setAttribute("aria-invalid", String(Boolean(validationMessage)));
    return !validationMessage;
  }
}

/**
 * Create the form of a tool.
 * @param {any} schema the JSON Schema of its arguments
 * @param {string} prefix of the fields' ids
 * @returns {{ element: HTMLFormElement, read: () => Record<string, unknown> | null }} the form, and its values; null after
 *   a problem, which is shown, and has the focus
 */
export function makeForm(schema, prefix) {
  const element = make("form", { part: "form", novalidate: true });
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const whole = Object.keys(properties).length > MOST_FIELDS;
  const fields = Object.entries(whole ? { arguments: { type: "object" } } : properties).map(
    ([name, own], at) => new Field(name, resolve(own, schema), required.includes(name), `${prefix}-${at}`),
  );
  element.append(...fields.map((field) => field.element));
  element.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey, isComposing, target } = event;
    if (key !== "Enter" || isComposing || !(target instanceof HTMLTextAreaElement)) return;
    // Enter submits from a line, Ctrl+Enter from a text of several.
    if (target.enterKeyHint === "send" ? shiftKey : !(ctrlKey || metaKey)) return;
    event.preventDefault();
    element.requestSubmit();
  });
  const read = () => {
    const wrong = fields.filter((field) => !field.check());
    wrong[0]?.input.focus();
    if (wrong.length) return null;
    if (whole) return fields[0].read() ?? {};
    return Object.fromEntries(
      fields.map(({ name, read }) => [name, read()]).filter(([, value]) => value !== undefined),
    );
  };
  return { element, read };
}
