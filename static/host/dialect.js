/** What differs between dialects, as types; the dialect of host.js is in sep.js. */

/** @import { FrameError } from "./errors.js" */
/** @import { outlineOf } from "./host-json.js" */

/**
 * One message of a dialect: `shape` reads it, and `check` compares it with earlier ones; both throw a FrameError. The others
 * are what it does in a state; in one that is missing, it is refused.
 * @typedef {{ shape: (message: any) => any, check?: (body: any) => void, [state: string]: ((body: any) => void) | undefined }} Rule
 */

/**
 * What differs between dialects, for one connection.
 * @typedef {object} Dialect
 * @property {Record<string, Record<string, Rule>>} rules The messages of each phase, by kind.
 * @property {string} silence What a page has not done by the deadline of its handshake.
 * @property {(address: URL, phase: string) => string} addressFor Returns the address of a phase.
 * @property {(data: any) => (ReturnType<typeof outlineOf> & { carries: boolean }) | null} outlineOf Returns the outline of
 *   posted data, and whether it carries JSON-RPC; null for noise.
 * @property {(message: any) => string} kindOf Returns the kind of a message that was read.
 * @property {(payload: object) => object} wrap Returns the message that carries JSON-RPC.
 * @property {(outline: object, error: FrameError) => boolean} [refused] Settles what waits for a refused message that carries
 *   none; returns whether something did.
 * @property {() => void} [loaded] The page has loaded, and has not called yet.
 * @property {() => void} [left] The phase is over.
 */

export {};
