/**
 * Forms for the arguments of tools. Objects, arrays and unions are entered as JSON.
 *
 * The browser checks what its own controls can: required, types, bounds, lengths. The server checks everything. Patterns
 * are left to it, too: a hostile one would block the host's page for minutes.
 */

import { make } from "./element-parts.js";
import { cut, visible } from "./visible.js";

/** Types of controls, by the `format` of a string. */
const FORMATS = { date: "date", email: "email", uri: "url", url: "url", password: "password" };
/** Formats of texts of several lines, and the length from which a default is one. */
const LONG_FORMATS = ["textarea", "multiline", "markdown", "html", "code", "json"];
const LONG = 60;
/** The most references that are followed to one schema. */
const MOST_REFERENCES = 20;
const LONGEST_LABEL = 200;
const LONGEST_HINT = 4000;
/** A schema with more is entered as JSON: thousands of controls would block the host's page. */
const MOST_CHOICES = 500;
const MOST_FIELDS = 200;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const textOf = (value) => (typeof value === "string" ? value : "");

/** Resolve a schema's references into its document, and a union of one schema with `null`. */
function resolve(schema, root) {
  let resolved = isObject(schema) ? schema : {};
  for (let left = MOST_REFERENCES; left; left--) {
    const { $ref, anyOf, oneOf, ...own } = resolved;
    if (textOf($ref).startsWith("#/")) {
      const target = pointed($ref, root);
      if (!isObject(target)) break;
      resolved = { ...target, ...own };
      continue;
    }
    const options = anyOf ?? oneOf;
    const others = Array.isArray(options) ? options.filter((option) => isObject(option) && option.type !== "null") : [];
    if (others.length !== 1) break;
    resolved = { ...others[0], ...own };
  }
  return resolved;
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
  if (!Array.isArray(values) || values.length > MOST_CHOICES) return null;
  const titles = Array.isArray(schema.enumNames) ? schema.enumNames : []; // of questions before 2025-11-25
  return values.map((value, at) => [value, textOf(titles[at])]);
}

/** @returns {HTMLOptionElement[]} */
function optionsOf(choices, chosen) {
  const texts = chosen.map((value) => JSON.stringify(value));
  return choices.map(([value, title], at) => {
    const text = title || (typeof value === "string" ? value : JSON.stringify(value));
    const option = make("option", { value: String(at) }, cut(text, LONGEST_LABEL));
    option.defaultSelected = texts.includes(JSON.stringify(value));
    return option;
  });
}

function choice(schema, choices) {
  const options = optionsOf(choices, "default" in schema ? [schema.default] : []);
  const select = make("select", {}, make("option", { value: "" }), ...options);
  select.value = [...select.options].find((option) => option.defaultSelected)?.value ?? "";
  return { input: select, read: () => (select.value === "" ? undefined : choices[Number(select.value)][0]) };
}

/** Several of the choices of an array's items. */
function several(schema, choices, required) {
  const options = optionsOf(choices, Array.isArray(schema.default) ? schema.default : []);
  const select = make("select", { multiple: true, size: String(Math.min(Math.max(choices.length, 2), 6)) }, ...options);
  const { minItems, maxItems } = schema;
  const check = () => {
    const { length } = select.selectedOptions;
    const few = isNumber(minItems) && length < minItems && (length || required);
    const many = isNumber(maxItems) && length > maxItems;
    select.setCustomValidity(few ? `At least ${minItems}.` : many ? `At most ${maxItems}.` : "");
  };
  select.addEventListener("input", check);
  check();
  const read = () => {
    const values = [...select.selectedOptions].map(({ value }) => choices[Number(value)][0]);
    return values.length || required ? values : undefined; // none is left out, as an empty text is
  };
  return { input: select, read };
}

function truth(schema, required) {
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

function controlOf(schema, required) {
  const choices = choicesOf(schema);
  if (choices) return choice(schema, choices);
  const items = schema.type === "array" && isObject(schema.items) ? choicesOf(schema.items) : null;
  if (items?.length) return several(schema, items, required);
  return (Object.hasOwn(CONTROLS, schema.type) ? CONTROLS[schema.type] : json)(schema, required);
}

/** One argument: its label, control, description, and the problem with what was entered. */
class Field {
  /**
   * @param {string} name of the argument
   * @param {any} schema
   * @param {boolean} required
   * @param {string} id unlike all others in the shadow root
   */
  constructor(name, schema, required, id) {
    const { input, read } = controlOf(schema, required);
    this.name = name;
    this.input = input;
    this.read = read;
    input.id = id;
    input.part.add("input");
    const checkbox = input.type === "checkbox";
    input.required = required && !checkbox && !input.multiple; // none of several may be an answer
    const label = make("label", { for: id, part: "label" }, cut(textOf(schema.title).trim() || name, LONGEST_LABEL));
    if (!required) label.append(" ", make("span", {}, "(optional)"));
    const hint = make("p", { id: `${id}-hint`, class: "hint", part: "hint", hidden: !schema.description });
    hint.textContent = visible(cut(textOf(schema.description), LONGEST_HINT));
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
 * @returns {{ element: HTMLFormElement, fields: { name: string, input: any }[], read: () => Record<string, unknown> | null }}
 *   the form, its controls, and its values; null after a problem, which is shown, and has the focus
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
  return { element, fields, read };
}
