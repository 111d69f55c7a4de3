/**
 * `npx @mcpframe/host types URL_OR_FILE`: writes the types of a server's tools, for `tools<Tools>(client)`, to the output.
 *
 * Schemas are a stranger's text: references that leave them, and keywords by which json-schema-to-typescript would copy
 * TypeScript from them, are left out.
 */

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { compile } from "json-schema-to-typescript";

const USAGE = `Usage: npx @mcpframe/host types URL_OR_FILE > tools.d.ts

URL_OR_FILE is the address of a server that mcpframe has built, its folder, its manifest.json, or a file with the result of
tools/list as JSON.`;

/** How long the server of a manifest may take, in milliseconds. */
const TIMEOUT = 30_000;
/** Keywords whose values are schemas by name. */
const NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/** Keywords that say nothing about types, or too much; a title would become the name of a type for each argument. */
const LEFT_OUT = ["$id", "id", "$schema", "$anchor", "title", "default", "example", "examples"];
LEFT_OUT.push("extends", "tsType", "tsEnumNames", "$dynamicRef", "$recursiveRef");

/**
 * Return a schema as a part of a larger document.
 * @param {any} schema
 * @param {string} at its place there, as the fragment of a reference
 * @param {boolean} named whether these are schemas by name
 */
function placed(schema, at, named = false) {
  if (Array.isArray(schema)) return schema.map((part) => placed(part, at));
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = [];
  for (const [key, value] of Object.entries(schema)) {
    if (named) entries.push([key, placed(value, at)]);
    else if (key === "$ref") {
      if (typeof value === "string" && value.startsWith("#")) entries.push([key, at + value.slice(1)]);
    } else if (!LEFT_OUT.includes(key)) entries.push([key, placed(value, at, NAMED.includes(key))]);
  }
  return Object.fromEntries(entries);
}

/** Return the schema of an object with these properties, each required. */
const objectOf = (properties, more = {}) => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
  ...more,
});

const pointer = (name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));

/** Return the text of the declarations of tools. */
async function typesOf(tools) {
  const schemas = tools.map(({ name, description, inputSchema, outputSchema }) => {
    const at = `#/properties/${pointer(name)}/properties`;
    const parts = { arguments: placed(inputSchema, `${at}/arguments`) };
    if (outputSchema) parts.result = placed(outputSchema, `${at}/result`);
    return [name, objectOf(parts, description ? { description } : {})];
  });
  const options = {
    additionalProperties: false, // so that an argument of another name is an error
    bannerComment: "",
    format: false,
    ignoreMinAndMaxItems: true,
    unknownAny: true,
    customName: (_, key) => (key === "Tools" ? "ToolsSchema" : undefined),
    $refOptions: { resolve: { external: false } },
  };
  const declared = await compile(objectOf(Object.fromEntries(schemas)), "Schemas", options);
  return `/* Written by \`npx @mcpframe/host types\`; use it with \`tools<Tools>(client)\`. */
export type Tools = import("@mcpframe/host/tools").ToolsOf<Schemas>;

${declared.trim()}
`;
}

/** Return the parsed JSON with a server's tools. */
async function read(place) {
  if (!/^https?:/.test(place)) {
    const file = (await stat(place)).isDirectory() ? join(place, "manifest.json") : place;
    return JSON.parse(await readFile(file, "utf-8"));
  }
  const address = new URL(place);
  address.hash = "";
  if (!address.pathname.endsWith(".json")) {
    address.pathname = `${address.pathname.replace(/(index\.html|\/)$/, "").replace(/\/$/, "")}/manifest.json`;
  }
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT) });
  if (!response.ok) throw new Error(`${address.href} answers with status ${response.status}`);
  return response.json();
}

async function main([command, place, ...more]) {
  if (command !== "types" || !place || more.length) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  try {
    const { tools } = await read(place);
    if (!Array.isArray(tools)) throw new Error("it lists no tools: save the result of tools/list, and name that file");
    process.stdout.write(await typesOf(tools));
    return 0;
  } catch (error) {
    process.stderr.write(`There are no types for ${place}: ${error.message}.\n`);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
