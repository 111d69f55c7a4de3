// Draws with the help of a neighbour, which it finds by a relative name.
import { frame } from "./deep/frame.js";

export function draw(element, text) {
  element.textContent = frame(text);
  element.dispatchEvent(new CustomEvent("drawn", { detail: { text, parts: [1, 2] } }));
}
