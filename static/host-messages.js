/**
 * What a framed page may say to host.js: the shape of each message, and the limits of every one.
 *
 * The shapes are the union of the SEP "postMessage Transport", its reference guide, and the draft specification of
 * 2025-07. A reader gives what is needed of a message, and throws a FrameError where it has another shape.
 */

/** The version of the postMessage protocol spoken here. */
export const PROTOCOL_VERSION = "1.0";

const VISIBILITIES = ["required", "optional", "hidden"];
const SETUP_ERRORS = [
  "USER_CANCELLED",
  "AUTH_FAILED",
  "TIMEOUT",
  "CONFIG_ERROR",
  "VERSION_MISMATCH",
  "INSUFFICIENT_PERMISSIONS",
];
const SETUP_REASONS = ["AUTH_EXPIRED", "CONFIG_CHANGED", "PERMISSIONS_CHANGED", "OTHER"];

/**
 * What went wrong with a frame or a message. `name` says which kind, in the words that mcpframe uses in Python too:
 * HandshakeTimeout, VersionMismatch, PeerGone, PopupBlocked, PermissionsDenied, StateError, OriginError, and for a single
 * message MalformedMessage, UnexpectedMessage, UnexpectedOrigin, MessageTooLarge, MessageTooDeep, PrototypeKey, TooManyPending.
 */
export class FrameError extends Error {
  /**
   * @param {string} name the kind of error
   * @param {string} message one sentence: what is wrong and, where it helps, what to do
   */
  constructor(name, message) {
    super(message);
    this.name = name;
  }
}

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

export function readSetupComplete({ type, status, transportVisibility, error, ephemeralMessage, ...names }) {
  if (status !== "success" && status !== "error") throw malformed(type, "status");
  const failed = status === "error";
  const title = names.serverTitle ?? names.displayName ?? (failed ? "" : undefined);
  const { requirement, optionalMessage, description } = transportVisibility ?? (failed ? {} : undefined) ?? {};
  const visibility = requirement ?? (failed ? "hidden" : undefined);
  const visibilityMessage = optionalMessage ?? description ?? undefined;
  if (!isText(title)) throw malformed(type, "serverTitle");
  if (!VISIBILITIES.includes(visibility)) throw malformed(type, "transportVisibility");
  if (visibilityMessage !== undefined && !isText(visibilityMessage)) throw malformed(type, "transportVisibility");
  if (ephemeralMessage != null && !isText(ephemeralMessage)) throw malformed(type, "ephemeralMessage");
  if (error != null && !isObject(error)) throw malformed(type, "error");
  if (failed && !(SETUP_ERRORS.includes(error?.code) && isText(error.message))) throw malformed(type, "error");
  return {
    title,
    visibility,
    ...(visibilityMessage && { visibilityMessage }),
    ...(ephemeralMessage && { ephemeralMessage }),
    ...(failed && { error: { code: error.code, message: error.message } }),
  };
}

export function readAccepted({ sessionId }) {
  if (!isText(sessionId) || !sessionId) throw malformed("MCP_TRANSPORT_ACCEPTED", "sessionId");
  return sessionId;
}

export function readPayload({ payload }) {
  const ok =
    isObject(payload) &&
    payload.jsonrpc === "2.0" &&
    ("method" in payload
      ? typeof payload.method === "string" &&
        !("result" in payload || "error" in payload) &&
        (payload.id === undefined || isId(payload.id)) &&
        (payload.params === undefined || isObject(payload.params))
      : "result" in payload !== "error" in payload && (isId(payload.id) || ("error" in payload && payload.id == null)));
  if (!ok) throw malformed("MCP_MESSAGE", "payload");
  return payload;
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

const isText = (value) => typeof value === "string" && value.length <= 4096;
const isVersion = (value) => typeof value === "string" && /^\d{1,6}\.\d{1,6}$/.test(value);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const isId = (value) => typeof value === "string" || Number.isSafeInteger(value);
const malformed = (type, field) => new FrameError("MalformedMessage", `${type} has no valid ${field}.`);

/**
 * Check that a value is plain JSON data within the limits and holds no key that could reach a JavaScript prototype:
 * `__proto__` anywhere, or `constructor` holding a `prototype` (the rule of npm's secure-json-parse).
 *
 * Structured clones may be cyclic or share parts, so that a small message is an endless one: every step is counted,
 * and the walk ends as soon as the text could not fit.
 */
export function checkMessage(message, { maxMessageBytes, maxNesting }) {
  let least = 0;
  let most = 0;
  const count = (atLeast, atMost) => {
    least += atLeast;
    most += atMost;
    if (least > maxMessageBytes) throw tooLarge(maxMessageBytes);
  };
  const walk = (value, depth) => {
    if (typeof value === "string") return count(value.length + 2, value.length * 6 + 2);
    if (typeof value === "number" || typeof value === "boolean" || value === null) return count(1, 25);
    if (value === undefined) return count(0, 4);
    if (typeof value !== "object") throw new FrameError("MalformedMessage", `A ${typeof value} is not JSON data.`);
    if (depth > maxNesting) {
      throw new FrameError("MessageTooDeep", `The message is nested deeper than ${maxNesting} levels (maxNesting).`);
    }
    count(2, 2);
    if (Array.isArray(value)) {
      for (const item of value) {
        count(1, 1);
        walk(item, depth + 1);
      }
      return;
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      throw new FrameError("MalformedMessage", `A ${value.constructor?.name ?? "special object"} is not JSON data.`);
    }
    for (const key of Object.keys(value)) {
      if (key === "__proto__" || (key === "constructor" && isObject(value[key]) && Object.hasOwn(value[key], "prototype"))) {
        throw new FrameError("PrototypeKey", `The message has a key ${key} that could change a prototype.`);
      }
      count(key.length + 3, key.length * 6 + 4);
      walk(value[key], depth + 1);
    }
  };
  walk(message, 1);
  if (most > maxMessageBytes && new TextEncoder().encode(JSON.stringify(message)).length > maxMessageBytes) {
    throw tooLarge(maxMessageBytes);
  }
}

const tooLarge = (limit) => new FrameError("MessageTooLarge", `The message has more than ${limit} bytes (maxMessageBytes).`);
