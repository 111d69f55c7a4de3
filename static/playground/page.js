// What every part of the playground needs of its page: elements, notices, and errors that become notices.
import { ProjectError } from "./project-files.js";

const LITTLE = 4; // GB of the device's memory: the type checker takes up to 0.9, a spare frame 0.1

/** Returns whether this is a phone, or a machine with as little memory. */
export function isSmall() {
  const { deviceMemory } = /** @type {{ deviceMemory?: number }} */ (navigator);
  return matchMedia("(pointer: coarse)").matches || deviceMemory <= LITTLE;
}

/** Returns an element of index.html. @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** Creates an element. @param {string} tag @param {Record<string, any>} [properties] @param {(Node | string)[]} children */
export function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/**
 * Shows a text above the editor, with buttons; none hides it.
 * @param {string} text
 * @param {Record<string, () => unknown>} [actions] what each button does, by its text
 */
export function notice(text, actions = {}) {
  const buttons = Object.entries(actions).map(([name, act]) => {
    const button = element("button", { type: "button", textContent: name });
    button.addEventListener(
      "click",
      guarded(() => {
        notice("");
        return inTurn(async () => act());
      }),
    );
    return button;
  });
  $("notice").replaceChildren(text, ...buttons);
  $("notice").hidden = !text;
}

/** Whether this page is in another page's frame, where a click could be stolen: says that nothing runs there. */
export function refusedInFrame() {
  if (top === self) return false;
  notice("This page is in another page's frame, where the playground runs nothing: open it in a tab.");
  return true;
}

/** Saves a file as a download. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Returns a function whose errors are shown; those that are not for the user are thrown, too. */
export function guarded(act) {
  return async (...args) => {
    try {
      await act(...args);
    } catch (error) {
      notice(error.message);
      if (!(error instanceof ProjectError)) throw error;
    }
  };
}

let turn = Promise.resolve();

/** Runs what opens a project once those before it are open: each awaits much, and the last one asked for stays. */
export function inTurn(act) {
  const mine = turn.then(act);
  turn = mine.catch(() => {});
  return mine;
}

/** Enables controls of index.html: all are disabled until they work, as a click before that would be lost. @param {string[]} ids */
export function enable(...ids) {
  for (const id of ids) $(id).disabled = false;
}

/** Listens to an element of index.html. @param {string} id @param {(event: Event) => unknown} act */
export function on(id, act, event = "click") {
  $(id).addEventListener(event, guarded(act));
}
