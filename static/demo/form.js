/**
 * Forms for JSON Schema objects, with one labelled field per property. Values without a simple field (arrays, objects,
 * unions) are entered as JSON.
 */

import { visible } from "./visible.js";

/** Resolve a schema's reference, and a union of one schema with `null`. */
function resolve(schema, root) {
  if (schema.$ref?.startsWith("#/")) {
    const target = schema.$ref
      .slice(2)
      .split("/")
      .reduce((at, key) => at?.[key], root);
    return resolve({ ...target, ...schema, $ref: undefined }, root);
  }
  const others = (schema.anyOf ?? schema.oneOf ?? []).filter((option) => option.type !== "null");
  return others.length === 1 ? resolve({ ...others[0], ...schema, anyOf: undefined, oneOf: undefined }, root) : schema;
}

/** Return a field's initial value: an example if there is one, or else the default. */
function initial(schema) {
  const inDescription = schema.description?.match(/\bExample:\s*(\S.*?)\.?$/m)?.[1];
  return schema.examples?.[0] ?? schema.example ?? inDescription ?? schema.default;
}

function control(schema, id) {
  const start = initial(schema);
  let input;
  if (schema.enum) {
    input = document.createElement("select");
    input.add(new Option("", ""));
    for (const value of schema.enum) input.add(new Option(visible(value), JSON.stringify(value)));
    if (schema.enum.includes(start)) input.value = JSON.stringify(start);
  } else if (schema.type === "boolean") {
    input = Object.assign(document.createElement("input"), { type: "checkbox", checked: start === true });
  } else if (schema.type === "integer" || schema.type === "number") {
    input = Object.assign(document.createElement("input"), { type: "number" });
    input.step = schema.type === "integer" ? "1" : "any";
    for (const [bound, key] of [
      ["min", "minimum"],
      ["max", "maximum"],
    ]) {
      if (schema[key] !== undefined) input[bound] = schema[key];
    }
    if (start !== undefined && start !== null) input.value = start;
  } else if (schema.type === "string") {
    input = Object.assign(document.createElement("input"), { type: "text", value: start ?? "" });
  } else {
    input = Object.assign(document.createElement("textarea"), { rows: 3, spellcheck: false });
    input.value = start === undefined || start === null ? "" : JSON.stringify(start);
    input.placeholder = "JSON";
  }
  input.id = id;
  return input;
}

/** Return the value of a field; undefined if it is empty. Throws if invalid JSON was entered. */
function valueIn(input, schema, name) {
  if (schema.enum) return input.value === "" ? undefined : JSON.parse(input.value);
  if (schema.type === "boolean") return input.checked;
  if (schema.type === "string") return input.value === "" && !input.required ? undefined : input.value;
  if (input.value.trim() === "") return undefined;
  if (schema.type === "integer" || schema.type === "number") return Number(input.value);
  try {
    return JSON.parse(input.value);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${error.message}`, { cause: error });
  }
}

/**
 * Create a form.
 * @param {object} schema the JSON Schema of an object
 * @param {string} prefix makes the fields' ids unique in the page
 * @returns {{element: HTMLFormElement, read: () => object}} the form, and its values as an object
 */
export function makeForm(schema, prefix) {
  const element = document.createElement("form");
  const fields = Object.entries(schema.properties ?? {}).map(([name, written]) => {
    const resolved = resolve(written, schema);
    const input = control(resolved, `${prefix}-${name}`);
    const required = schema.required?.includes(name) ?? false;
    input.name = name;
    input.required = required && resolved.type !== "boolean" && resolved.type !== "string";
    const label = Object.assign(document.createElement("label"), { htmlFor: input.id });
    label.textContent = visible(`${resolved.title ?? name}${required ? "" : " (optional)"}`);
    const field = Object.assign(document.createElement("div"), { className: "field" });
    field.append(label, input);
    if (resolved.description) {
      const hint = Object.assign(document.createElement("small"), {
        id: `${input.id}-hint`,
        textContent: visible(resolved.description),
      });
      input.setAttribute("aria-describedby", hint.id);
      field.append(hint);
    }
    element.append(field);
    return { name, input, schema: resolved, required };
  });
  const read = () => {
    const values = fields.map(({ name, input, schema: own, required }) => {
      const value = valueIn(input, own, name);
      return [name, value === undefined && required && own.type === "string" ? "" : value];
    });
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  };
  return { element, read };
}
