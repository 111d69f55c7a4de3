/** Shows a tool's result: its content, then its structured content. Nothing in it is interpreted as HTML. */

import { visible } from "./visible.js";

const asBytes = (part) => `data:${part.mimeType};base64,${part.data}`;

const PARTS = {
  text: (part) => Object.assign(document.createElement("pre"), { textContent: visible(part.text) }),
  image: (part) =>
    Object.assign(document.createElement("img"), { src: asBytes(part), alt: "Image in the tool's answer" }),
  audio: (part) => Object.assign(document.createElement("audio"), { src: asBytes(part), controls: true }),
};

const asJson = (value) =>
  Object.assign(document.createElement("pre"), { textContent: visible(JSON.stringify(value, null, 2)) });

/**
 * Show a result.
 * @param {HTMLElement} place the element to show it in, which is emptied first; its `data-state` becomes `done` or `error`
 * @param {object} answer a `CallToolResult`
 */
export function showResult(place, answer) {
  const parts = (answer.content ?? []).map((part) => (PARTS[part.type] ?? asJson)(part));
  if (answer.structuredContent) {
    const details = document.createElement("details");
    const summary = Object.assign(document.createElement("summary"), { textContent: "Structured content" });
    const json = asJson(answer.structuredContent);
    json.className = "structured";
    details.append(summary, json);
    parts.push(details);
  }
  place.replaceChildren(...parts);
  place.dataset.state = answer.isError ? "error" : "done";
}
