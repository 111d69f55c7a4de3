/** Shows results of tools. Texts become text nodes, images and sounds `data:` addresses of known types: never HTML. */

import { make } from "./element-parts.js";

/** @import { CallToolResult } from "@modelcontextprotocol/client" */

/** Of these the browser makes pictures and sounds; it runs no script in any, as an image. */
const IMAGES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const SOUNDS = /^audio\/[a-z0-9.+-]+$/;

const pre = (text) => make("pre", {}, text);
const asJson = (value) => pre(JSON.stringify(value, null, 2));
const address = ({ mimeType, data }) => `data:${mimeType};base64,${data}`;

const BLOCKS = {
  text: ({ text }) => pre(text),
  image: (block) =>
    IMAGES.test(block.mimeType)
      ? Object.assign(make("img", { alt: "Image in the result" }), { src: address(block) })
      : left(block),
  audio: (block) =>
    SOUNDS.test(block.mimeType)
      ? Object.assign(make("audio", { controls: true }), { src: address(block) })
      : left(block),
  resource: ({ resource }) => (typeof resource?.text === "string" ? pre(resource.text) : left(resource ?? {})),
  resource_link: ({ uri, title, name }) => pre(`${title ?? name ?? ""} ${uri}`.trim()),
};

/** Describe what cannot be shown. */
const left = ({ mimeType, uri }) => pre(`[${[mimeType, uri].filter(Boolean).join(", ") || "not shown"}]`);

/** Return whether the only text of a result says the same as a value. */
function repeats(/** @type {CallToolResult["content"]} */ content, value) {
  if (content.length !== 1 || content[0].type !== "text") return false;
  const { text } = content[0];
  try {
    return text === value || JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}

/**
 * Return the elements that show a result. What many SDKs say twice, as text and as structured content, is shown once.
 * @param {CallToolResult} result
 * @returns {HTMLElement[]}
 */
export function resultParts({ content = [], structuredContent }) {
  if (structuredContent !== undefined && repeats(content, structuredContent)) return [asJson(structuredContent)];
  /** @type {HTMLElement[]} */
  const parts = content.map((block) => (Object.hasOwn(BLOCKS, block.type) ? BLOCKS[block.type](block) : asJson(block)));
  const [[name, value] = [], ...others] = Object.entries(structuredContent ?? {});
  const isEnvelope = name === "result" && !others.length; // of a value that is no object
  if (structuredContent !== undefined && !(isEnvelope && repeats(content, value))) {
    const summary = make("summary", {}, "Structured content");
    parts.push(make("details", {}, summary, asJson(structuredContent)));
  }
  return parts.length ? parts : [pre("(nothing)")];
}
