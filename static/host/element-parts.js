/** The elements that `<mcp-server>` is made of. Texts of servers become text nodes, with invisible characters escaped. */

import { visible } from "./visible.js";

/**
 * Create an element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | boolean>} [attributes] true for an empty value, false for none
 * @param {(Node | string)[]} children nodes, and texts of whomever
 */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(key, value === true ? "" : visible(value));
  }
  element.append(...children.map((child) => (child instanceof Node ? child : visible(child))));
  return element;
}
