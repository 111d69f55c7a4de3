/**
 * Reads the messages of a framed page for host.js: the shape of each, and the limits of all.
 *
 * The shapes are the union of the SEP "postMessage Transport", its reference guide, and the draft specification of
 * 2025-07. A reader returns what is needed of a message, and throws a FrameError if it has another shape. A field that is
 * null counts as missing.
 */

import { FrameError } from "./errors.js";
import { jsonOf } from "./host-json.js";

/** @import { FrameErrorName } from "./host.js" */

/** The version of the postMessage protocol spoken here. */
export const PROTOCOL_VERSION = "1.0";

const VISIBILITIES = ["required", "optional", "hidden"];
const SETUP_REASONS = ["AUTH_EXPIRED", "CONFIG_CHANGED", "PERMISSIONS_CHANGED", "OTHER"];

export function readHandshake({ type, protocolVersion, minProtocolVersion, maxProtocolVersion }) {
  const isRange = minProtocolVersion != null && maxProtocolVersion != null;
  const [min, max] = isRange ? [minProtocolVersion, maxProtocolVersion] : [protocolVersion, protocolVersion];
  if (!isVersion(min) || !isVersion(max)) throw malformed(type, "protocolVersion");
  return { min, max };
}

export function readSetupHandshake(message) {
  const { type, requiresVisibleSetup, requestedPermissions } = message;
  if (typeof requiresVisibleSetup !== "boolean") throw malformed(type, "requiresVisibleSetup");
  const requested = requestedPermissions ?? [];
  if (!Array.isArray(requested)) throw malformed(type, "requestedPermissions");
  const permissions = requested.map((permission) => {
    const { name, phase, required, purpose } = isObject(permission) ? permission : {};
    const phases = phase?.length ? phase : ["setup", "transport"];
    const ok =
      isText(name) &&
      (phase == null || (Array.isArray(phase) && phase.every((one) => typeof one === "string"))) &&
      (required == null || typeof required === "boolean") &&
      (purpose == null || isText(purpose));
    if (!ok) throw malformed(type, "requestedPermissions");
    return { name, phase: phases, required: required ?? false, purpose: purpose ?? "" };
  });
  return { ...readHandshake(message), requiresVisible: requiresVisibleSetup, permissions };
}

/**
 * Read the result of a setup, leniently, as the page considers its setup complete and sends no second message. Missing or
 * invalid fields get defaults; every status except success is a failure, with the page's own message.
 */
export function readSetupComplete({
  type,
  status,
  transportVisibility,
  error,
  ephemeralMessage,
  serverTitle,
  displayName,
}) {
  if (!isText(status)) throw malformed(type, "status");
  const { requirement, optionalMessage, description } = isObject(transportVisibility) ? transportVisibility : {};
  const visibilityMessage = textOf(optionalMessage ?? description);
  const notice = textOf(ephemeralMessage);
  return {
    title: textOf(serverTitle ?? displayName),
    visibility: VISIBILITIES.includes(requirement) ? requirement : "hidden",
    ...(visibilityMessage && { visibilityMessage }),
    ...(notice && { ephemeralMessage: notice }),
    ...(status !== "success" && { error: readSetupError(status, error) }),
  };
}

function readSetupError(status, error) {
  const { code, message } = isObject(error) ? error : { message: error };
  const byStatus = status === "cancelled" || status === "canceled" ? "USER_CANCELLED" : "CONFIG_ERROR";
  return { code: textOf(code) || byStatus, message: textOf(message) || "The page gave no reason." };
}

/** The result of a setup whose MCP_SETUP_COMPLETE was refused. */
export const unreadableSetup = ({ message }) => ({
  title: "",
  visibility: "hidden",
  error: { code: "CONFIG_ERROR", message: `The outcome of the page's setup cannot be read: ${message}` },
});

/** Check an id of a host: the page would ignore an invalid one, and the host wait for it. */
export function checkSessionId(sessionId) {
  if (isText(sessionId) && sessionId) return;
  const actual = typeof sessionId === "string" ? `one of ${sessionId.length}` : `a ${typeof sessionId}`;
  throw new FrameError("OriginError", `A session id is a text of 1 to ${MAX_TEXT} characters, not ${actual}.`);
}

export function readAccepted({ sessionId }) {
  if (!isText(sessionId) || !sessionId) throw malformed("MCP_TRANSPORT_ACCEPTED", "sessionId");
  return sessionId;
}

export function readPayload({ payload }) {
  if (!isJsonRpc(payload)) throw malformed("MCP_MESSAGE", "payload");
  return payload;
}

/** Whether a value is a message of JSON-RPC, as MCP has them. */
export const isJsonRpc = (value) => isObject(value) && value.jsonrpc === "2.0" && (isCall(value) || isAnswer(value));

function isCall(payload) {
  const { method, params = {} } = payload;
  if (typeof method !== "string" || "result" in payload || "error" in payload) return false;
  return isObject(params) && (!("id" in payload) || (isId(payload.id) && !isNotification(method)));
}

/** Whether a method is one of MCP's notifications. A request of this name is refused: they have no id. */
const isNotification = (method) => method.startsWith("notifications/");

function isAnswer(payload) {
  const { id, result, error } = payload;
  if ("method" in payload || "result" in payload === "error" in payload) return false;
  if ("result" in payload) return isObject(result) && isId(id);
  return (
    isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === "string" && (id == null || isId(id))
  );
}

export function readSetupRequired({ reason, message, canContinue }) {
  if (!SETUP_REASONS.includes(reason)) throw malformed("MCP_SETUP_REQUIRED", "reason");
  if (!isText(message)) throw malformed("MCP_SETUP_REQUIRED", "message");
  if (typeof canContinue !== "boolean") throw malformed("MCP_SETUP_REQUIRED", "canContinue");
  return { reason, message, canContinue };
}

/** Versions compare as numbers: 1.10 is newer than 1.9. */
export function speaksOurVersion({ min, max }) {
  return compareVersions(min, PROTOCOL_VERSION) <= 0 && compareVersions(PROTOCOL_VERSION, max) <= 0;
}

function compareVersions(left, right) {
  const [a, b] = [left, right].map((version) => version.split(".").map(Number));
  return a[0] - b[0] || a[1] - b[1];
}

const textOf = (value) => (isText(value) ? value : "");
const MAX_TEXT = 4096;
const isText = (value) => typeof value === "string" && value.length <= MAX_TEXT;
const isVersion = (value) => typeof value === "string" && /^\d{1,6}\.\d{1,6}$/.test(value);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** Whether it is a string or a safe integer: with any other id, a response could not be matched. */
export const isId = (value) => typeof value === "string" || Number.isSafeInteger(value);
const malformed = (type, field) => new FrameError("MalformedMessage", `${type} has no valid ${field}.`);

/** Read a posted message: return its JSON text and its data. Throws if it exceeds a limit or is not JSON. */
export function readInbound(data, limits) {
  try {
    const text = jsonOf(data, limits);
    return { text, message: JSON.parse(text ?? "null") };
  } catch (error) {
    throw asFrameError(error);
  }
}

/** Read a message to send, with the same limits. It may be of any class and have a `toJSON`. */
export function readOutbound(message, limits) {
  try {
    const plain = JSON.parse(JSON.stringify({ type: "MCP_MESSAGE", payload: message }));
    const text = jsonOf(plain, limits);
    checkContent(text, plain);
    const { payload } = plain;
    if ("method" in payload && "id" in payload) {
      if (!isId(payload.id)) {
        const text = `The id ${payload.id} is outside JavaScript's exact integers: choose a smaller one.`;
        throw new FrameError("MalformedMessage", text);
      }
      if (isNotification(`${payload.method}`)) {
        throw new FrameError("MalformedMessage", `${payload.method} must be a notification: it has an id.`);
      }
    }
    return payload;
  } catch (error) {
    throw asFrameError(error);
  }
}

function asFrameError(error) {
  if (error instanceof FrameError) return error;
  const name = /** @type {FrameErrorName} */ (/^M\w+/.exec(error.name)?.[0] ?? "MalformedMessage");
  return new FrameError(name, `${error.message}`);
}

/**
 * Refuse keys that could reach a JavaScript prototype: `__proto__` anywhere, or `constructor` holding a `prototype` (the
 * rule of npm's secure-json-parse). Also refuse strings of ill-formed Unicode, which no file, socket or log accepts.
 * @param {string} text the JSON text, searched first, as most messages have nothing suspicious
 * @param data the same, parsed
 */
export function checkContent(text, data) {
  if (!text.includes('"__proto__"') && !text.includes('"prototype"') && !text.includes("\\ud")) return;
  const todo = [data];
  while (todo.length) {
    const item = todo.pop();
    if (typeof item === "string" && LONE_SURROGATE.test(item)) {
      throw new FrameError(
        "MalformedMessage",
        "The message has a text that is ill-formed Unicode: a surrogate stands alone.",
      );
    }
    if (typeof item !== "object" || item === null) continue;
    const isArray = Array.isArray(item);
    for (const key of isArray ? item.keys() : Object.keys(item)) {
      const value = item[key];
      if (!isArray) {
        if (key === "__proto__" || (key === "constructor" && isObject(value) && Object.hasOwn(value, "prototype"))) {
          throw new FrameError("PrototypeKey", `The message has a key ${key} that could change a prototype.`);
        }
        todo.push(key);
      }
      todo.push(value);
    }
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;
