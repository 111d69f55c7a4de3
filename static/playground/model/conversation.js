// A conversation of a user with a model that calls the tools of the server that runs: bounded, and each call is shown first.
import { ProjectError } from "../project-files.js";
import { readAll } from "../reading.js";
import { FORMS, namesFor, resultFor, schemaFor } from "./forms.js";

export const MOST_ROUNDS = 10; // answers of the model to one question
const MOST_CALLS = 30; // for one question
const ANSWERING = 120_000; // milliseconds
const MOST_BYTES = 4_000_000; // of an answer

/**
 * @typedef {object} Service
 * @property {string} form a name of `FORMS`
 * @property {string} address
 * @property {string} model
 * @property {string} key
 */

/**
 * @typedef {object} Server
 * @property {() => Promise<any[]>} tools as `tools/list` returns them
 * @property {(name: string, args: Record<string, unknown>) => Promise<any>} call
 */

export class Conversation {
  #turns = [];
  #stopping = null;

  /**
   * @param {Service} service
   * @param {Server} server
   * @param {object} on
   * @param {(text: string) => void} on.said is called with each text of the model
   * @param {(call: { name: string, args: object, readOnly: boolean }) => Promise<boolean>} on.calling shows a call, and returns whether the user allows it
   * @param {(call: { name: string, args: object, readOnly: boolean }, result: any) => void} on.called is called with the result
   */
  constructor(service, server, on) {
    this.service = service;
    this.server = server;
    this.on = on;
  }

  /** Aborted when the question that is asked ends early. */
  get ended() {
    return this.#stopping.signal;
  }

  /** Ends the question that is asked. */
  stop() {
    this.#stopping?.abort();
  }

  /**
   * Asks a question, and lets the model call tools until it answers without.
   * @param {string} question
   * @throws {ProjectError} the service does not answer, or the model does not come to an end
   */
  async ask(question) {
    const { form, model } = this.service;
    const { ask, body, give } = FORMS[form];
    const stopping = new AbortController();
    this.#stopping = stopping;
    const begun = this.#turns.length;
    this.#turns.push(...ask(question));
    let calls = 0;
    try {
      const all = await this.server.tools();
      const names = namesFor(all.map(({ name }) => name));
      const byName = new Map(all.map((tool) => [tool.name, tool]));
      const tools = [...names].map(([own, name]) => {
        const { description = "", inputSchema } = byName.get(name);
        return { name: own, description, schema: schemaFor(inputSchema) };
      });
      for (let round = 0; round < MOST_ROUNDS; round += 1) {
        const answer = await this.#answer(body(model, tools, this.#turns), stopping.signal);
        this.#turns.push(answer.raw);
        if (answer.text) this.on.said(answer.text);
        if (!answer.calls.length) return;
        calls += answer.calls.length;
        if (calls > MOST_CALLS) throw new ProjectError(`The model made more than ${MOST_CALLS} calls: it was stopped.`);
        const results = [];
        for (const { id, name, args } of answer.calls) {
          const tool = byName.get(names.get(name));
          results.push(resultFor(id, await this.#call(tool, name, args)));
          stopping.signal.throwIfAborted();
        }
        this.#turns.push(...give(results));
      }
      throw new ProjectError(`The model did not answer within ${MOST_ROUNDS} rounds: it was stopped.`);
    } catch (error) {
      this.#turns.length = begun; // a turn without its answer is refused by the services
      throw stopping.signal.aborted ? new ProjectError("Stopped.") : error;
    } finally {
      if (this.#stopping === stopping) this.#stopping = null;
    }
  }

  async #call(tool, name, args) {
    if (!tool) return failure(`There is no tool ${name}.`);
    const call = { name: tool.name, args, readOnly: tool.annotations?.readOnlyHint === true };
    const result = (await this.on.calling(call))
      ? await this.#result(call)
      : failure("The user does not allow this call.");
    this.on.called(call, result);
    return result;
  }

  async #result({ name, args }) {
    try {
      return await this.server.call(name, args);
    } catch (error) {
      return failure(error.message);
    }
  }

  async #answer(body, stopped) {
    const { form, address, key } = this.service;
    const { headers, read } = FORMS[form];
    let response;
    let text;
    try {
      response = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers(key) },
        body: JSON.stringify(body),
        credentials: "omit",
        redirect: "error", // the key goes nowhere else
        referrerPolicy: "no-referrer",
        signal: AbortSignal.any([stopped, AbortSignal.timeout(ANSWERING)]),
      });
      text = await (await readAll(response.body, MOST_BYTES, "The model's answer is too large.")).text();
    } catch (error) {
      if (error instanceof ProjectError || stopped.aborted) throw error;
      if (error.name === "TimeoutError")
        throw new ProjectError(`The model has not answered for ${ANSWERING / 1000} s.`);
      throw new ProjectError(
        "The model cannot be reached: the address is wrong, its server does not allow this page (CORS), or this site's " +
          "policy does not list it.",
      );
    }
    if (!response.ok) throw new ProjectError(`The model's server answered ${response.status}: ${text.slice(0, 500)}`);
    try {
      return read(JSON.parse(text));
    } catch (error) {
      throw new ProjectError(`The model's answer cannot be read: ${error.message}`);
    }
  }
}

const failure = (text) => ({ isError: true, content: [{ type: "text", text }] });
