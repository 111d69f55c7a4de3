/**
 * The host side of the MCP postMessage transport, for pages in JavaScript.
 *
 *     import { Client } from "@modelcontextprotocol/client";
 *     import { FrameTransport } from "./host.js";
 *
 *     const iframe = document.body.appendChild(document.createElement("iframe"));
 *     const transport = new FrameTransport({ iframe, url: "https://tools.example/pi-calculator/" });
 *     const { title, ephemeralMessage, error } = await transport.setup(); // once, when the user adds the server
 *     const client = new Client({ name: "my-host", version: "1.0.0" });
 *     await client.connect(transport);
 *
 * `FrameTransport` plays the outer frame of the SEP "postMessage Transport" in both of its phases:
 *
 *     state        message of the framed page      what we do                                  next state
 *     awaiting     MCP_SETUP_HANDSHAKE             ask for permissions, load the page anew     awaiting
 *     awaiting     MCP_SETUP_HANDSHAKE             post MCP_SETUP_HANDSHAKE_REPLY              setting up
 *     setting up   MCP_SETUP_HANDSHAKE             post the same reply again                   setting up
 *     setting up   MCP_SETUP_COMPLETE              setup() resolves, also if it is malformed   idle
 *     awaiting     MCP_TRANSPORT_HANDSHAKE         post MCP_TRANSPORT_HANDSHAKE_REPLY          confirming
 *     confirming   MCP_TRANSPORT_HANDSHAKE         post the same reply again                   confirming
 *     confirming   MCP_TRANSPORT_ACCEPTED          start() resolves                            open
 *     open         MCP_MESSAGE                     hand the payload to the SDK                 open
 *     open         MCP_SETUP_REQUIRED              tell the host                               open
 *     open         MCP_TRANSPORT_HANDSHAKE         another document is there: fail, close      closed
 *     not open     mcpframe-origin-refused         the page does not allow this origin: fail   closed
 *
 * Every message passes one gate, in this order: source window, origin, shape, state. Messages of other windows are dropped
 * unread, those of other libraries are ignored, and malformed messages of this protocol are reported to `onerror`.
 *
 * No dependencies. It needs a browser of 2022 or later.
 */

export { FrameError } from "./errors.js";
export { SANDBOX } from "./frames.js";
export { PROTOCOL_VERSION } from "./messages.js";
export { FrameTransport } from "./session.js";

/**
 * The kind of a `FrameError`; the names are those of mcpframe's Python errors. The first four end the session:
 * - `HandshakeTimeout`: the page sent no handshake, or did not accept the session, in time.
 * - `HandshakeRefused`: the page does not allow this origin.
 * - `VersionMismatch`: the page speaks no version of the postMessage protocol that this host speaks.
 * - `PeerGone`: the page was reloaded, navigated away or removed.
 * - `PopupBlocked`: the browser opened no popup.
 * - `PermissionsDenied`: a required permission was not granted. Ends the page's setup.
 * - `StateError`: a call that does not fit the transport's state, such as sending before it is open.
 * - `OriginError`: an address, a sandbox or a session id that cannot work.
 *
 * The others are about one message, which is refused; the session goes on.
 * @typedef {"HandshakeTimeout" | "HandshakeRefused" | "VersionMismatch" | "PeerGone" | "PopupBlocked" | "PermissionsDenied" | "StateError"
 *   | "OriginError" | "MalformedMessage" | "UnexpectedMessage" | "UnexpectedOrigin" | "MessageTooLarge" | "MessageTooDeep"
 *   | "PrototypeKey" | "TooManyPending"} FrameErrorName
 */

/** @typedef {"required" | "optional" | "hidden"} Visibility */

/**
 * Deadlines in milliseconds; `Infinity` for none.
 * @typedef {object} FrameTimeouts
 * @property {number} [handshake] From the start until the page must have sent its handshake, loading included. Default
 *   30 000.
 * @property {number} [accept] From our reply until the page must have accepted the session; by default as many as
 *   `handshake`. A page may send its handshake before it has started, so that this covers starting it, too.
 * @property {number} [setup] From our reply until the page must have completed its setup. Default 1 800 000.
 */

/**
 * @typedef {object} FrameLimits
 * @property {number} [maxMessageBytes] Bytes of one message as JSON in UTF-8, in either direction. Default 64 MiB.
 * @property {number} [maxNesting] Arrays and objects inside each other in one message, in either direction. Default 100.
 * @property {number} [maxPending] Requests without an answer, per direction. Default 1000.
 */

/**
 * One message at the gate, as `onWire` gets it.
 * @typedef {object} Wire
 * @property {"sent" | "received"} direction
 * @property {string | null} text Its JSON text; null if unread (not from the peer), or not JSON within the limits.
 * @property {string} origin The sender's origin, or the target origin.
 * @property {string | null} refused The reason for its refusal, in a sentence; null if it was accepted.
 */

/**
 * A page that fetches nothing, for an iframe of opaque origin, which has no cache, or of an origin of its own, where a page
 * waits for it. It has no setup phase.
 * @typedef {object} HandedPage
 * @property {string} html Its text, such as that of `mcpframe build --single-file`.
 * @property {HandedFiles | Promise<HandedFiles> | undefined} [files] The files that it asks for, if they are not in the text.
 * @property {Promise<LaterFiles> | undefined} [later] The rest, once it is known. Until then the page compiles and unpacks
 *   what is in `files`, at least those of `wasm`, `libraries` and `snapshot` in its settings, and runs no code of the author's.
 * @property {string | URL | undefined} [address] Of a page on another origin that writes this text into its document, such
 *   as the run page of a playground (`python3 build.py site --run-origin`). Without it the text is the iframe's `srcdoc`.
 * @property {((title: string, detail: string, ended: boolean) => void) | undefined} [onproblem] Called with each error that
 *   the page shows its user, such as a traceback, and whether it has ended the page. The text is the page's. Only of pages
 *   that ask for their files.
 */

/** @typedef {Readonly<Record<string, Blob | ArrayBuffer>>} HandedFiles Files by URL. */

/**
 * @typedef {object} LaterFiles
 * @property {string} boot The page's settings, in place of those in its text: a JSON object.
 * @property {HandedFiles} files The files that it needs besides.
 * @property {readonly string[] | undefined} [styles] The texts of its own style sheets, which follow those in its text.
 */

/**
 * @typedef {object} FrameOptions
 * @property {string | undefined} [sessionId] To resume what the page stored under this id. By default a new random one.
 * @property {readonly string[] | undefined} [permissions] The Permissions Policy features that are granted, such as
 *   "clipboard-read". With those that `onpermissions` grants they are the iframe's `allow` attribute. In a popup the
 *   browser asks.
 * @property {Visibility | undefined} [visibility] What an earlier setup said; `required` shows the iframe at the start.
 *   Default hidden.
 * @property {number | FrameTimeouts | undefined} [timeout] One number for the deadlines of both handshakes, or each.
 * @property {FrameLimits | undefined} [limits]
 * @property {number | undefined} [unresponsiveAfter] Milliseconds until `onunresponsive` reports a page that is silent
 *   while requests wait. After half of it the page is asked. Default 20 000; `Infinity` never asks.
 * @property {"light" | "dark" | "light dark" | undefined} [colorScheme] The `color-scheme` of the iframe, which the page
 *   follows. By default that of the host's page, which is light if it declares none; "light dark" leaves it to the system.
 * @property {((wire: Wire) => void) | undefined} [onWire] Called with every message, in either phase, as it is sent,
 *   received or refused. It costs; for inspecting. Of messages that other windows post to this one, only the origin is
 *   reported.
 */

/**
 * @typedef {object} InIframe
 * @property {HTMLIFrameElement} iframe An iframe in the document. Whatever it showed is replaced, and its `allow`
 *   attribute too.
 * @property {false | undefined} [popup]
 * @property {keyof typeof import("./frames.js").SANDBOX | (string & {}) | undefined} [sandbox] A name of `SANDBOX`, or the text of the iframe's
 *   `sandbox` attribute. By default the attribute that it has, or else `standard`.
 * @property {boolean | undefined} [opaque] The page is in a sandbox without `allow-same-origin`. Its origin is "null",
 *   like that of every such frame, so that messages can only be posted to "*": whatever is in that iframe reads them.
 */

/**
 * @typedef {object} InPopup
 * @property {true} popup Open the page in a popup: call `setup()` and `connect()` in answer to a click, or it will be
 *   blocked.
 * @property {undefined} [iframe]
 * @property {undefined} [sandbox]
 * @property {undefined} [opaque]
 */

/**
 * @typedef {object} AtAddress
 * @property {string | URL} url The http(s) address of the page; a `#setup` in it is left out.
 * @property {undefined} [handed]
 */

/**
 * @typedef {object} Handed
 * @property {HandedPage & { address?: undefined }} handed The page itself, in place of its address.
 * @property {true} opaque
 * @property {undefined} [url]
 */

/**
 * @typedef {object} HandedElsewhere
 * @property {HandedPage & { address: string | URL }} handed The page itself, and the page that waits for it.
 * @property {false | undefined} [opaque]
 * @property {false | undefined} [popup]
 * @property {undefined} [url]
 */

/** @typedef {FrameOptions & (InIframe | InPopup) & (AtAddress | Handed | HandedElsewhere)} FrameTransportOptions */

/**
 * A browser permission that a page asks for in its setup (draft specification of 2025-07).
 * @typedef {object} PermissionRequest
 * @property {string} name The Permissions Policy feature.
 * @property {string[]} phase The phases it is needed in, of "setup" and "transport".
 * @property {boolean} required Whether the page cannot work without it.
 * @property {string} purpose A sentence for the user.
 */

/**
 * The codes of the protocol; a page may have its own, which is passed on as it is.
 * @typedef {"USER_CANCELLED" | "AUTH_FAILED" | "TIMEOUT" | "CONFIG_ERROR" | "VERSION_MISMATCH"
 *   | "INSUFFICIENT_PERMISSIONS" | (string & {})} SetupErrorCode
 */

/**
 * How a setup ended.
 * @typedef {object} SetupResult
 * @property {string} title The name for this configuration; empty where the page gave none.
 * @property {Visibility} visibility Whether the page is to be seen in the transport phase.
 * @property {string} [visibilityMessage] For `optional`: the use of seeing it.
 * @property {string} [ephemeralMessage] A short notice for the user.
 * @property {{ code: SetupErrorCode, message: string }} [error] Where the setup failed or was cancelled.
 */

/**
 * A page needs its setup phase again (`MCP_SETUP_REQUIRED` of the SEP).
 * @typedef {object} SetupRequest
 * @property {"AUTH_EXPIRED" | "CONFIG_CHANGED" | "PERMISSIONS_CHANGED" | "OTHER"} reason
 * @property {string} message
 * @property {boolean} canContinue
 */
