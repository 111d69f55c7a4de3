/** The call of a tool by its form: one at a time, with its progress, its result, and an end by the user. */

import { make } from "./element-parts.js";
import { resultParts } from "./element-result.js";

/** @import { CallToolResult } from "@modelcontextprotocol/client" */

/**
 * @callback Show
 * @param {"calling" | "done" | "failed" | "stopped"} state
 * @param {HTMLElement[]} parts the result or the error; none while calling
 * @returns {void}
 */

/**
 * Call a tool when its form is submitted.
 * @param {{ element: HTMLFormElement, read: () => Record<string, unknown> | null }} form
 * @param {(args: Record<string, unknown>, options: { signal: AbortSignal, onprogress: (step: any) => void }) => Promise<CallToolResult>} call
 * @param {Show} show
 * @param {(text: string, step: { progress: number, total?: number }) => void} [step] shows the progress
 * @returns {(reason: string) => void} ends the call, if there is one
 */
export function callOnSubmit({ element, read }, call, show, step = () => {}) {
  /** @type {AbortController | null} */
  let running = null;
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    const args = running ? null : read();
    if (!args) return;
    const own = new AbortController();
    running = own;
    show("calling", []);
    const onprogress = ({ progress, total, message }) => {
      if (running === own) step(String(message ?? (total ? `${progress} of ${total}` : progress)), { progress, total });
    };
    try {
      const result = await call(args, { signal: own.signal, onprogress });
      show(result.isError === true ? "failed" : "done", resultParts(result));
    } catch (error) {
      if (own.signal.aborted) show("stopped", [make("p", {}, "Stopped.")]);
      else show("failed", [make("pre", {}, error.message)]);
    } finally {
      running = null;
    }
  });
  return (reason) => running?.abort(reason);
}
