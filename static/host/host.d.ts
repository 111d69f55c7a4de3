/** Types of host.js. `FrameTransport` satisfies `Transport` of `@modelcontextprotocol/client` and `/server` 2.x. */

/** The version of the postMessage protocol spoken here. */
export declare const PROTOCOL_VERSION: "1.0";

/** What a `FrameError` is about; the names are those of mcpframe's Python errors. */
export type FrameErrorName =
  /** The page sent no handshake, or did not accept the session, in time. Ends the session. */
  | "HandshakeTimeout"
  /** The page speaks no version of the postMessage protocol that we speak. Ends the session. */
  | "VersionMismatch"
  /** The page was reloaded, navigated away or removed. Ends the session. */
  | "PeerGone"
  /** The browser opened no popup. */
  | "PopupBlocked"
  /** The page cannot do without a permission that was not granted. Ends its setup. */
  | "PermissionsDenied"
  /** A call that does not fit the transport's state, such as sending before it is open. */
  | "StateError"
  /** An address, a sandbox or a session id that cannot work. */
  | "OriginError"
  /** One message refused; the session goes on. */
  | "MalformedMessage"
  | "UnexpectedMessage"
  | "UnexpectedOrigin"
  | "MessageTooLarge"
  | "MessageTooDeep"
  | "PrototypeKey"
  | "TooManyPending";

export declare class FrameError extends Error {
  constructor(name: FrameErrorName, message: string);
  override name: FrameErrorName;
}

export interface FrameTimeouts {
  /** Milliseconds from the start until the page must have sent its handshake, loading included. Default 30 000. */
  handshake?: number;
  /**
   * Milliseconds from our reply until the page must have accepted the session; by default as many as `handshake`. A page
   * may send its handshake before it has started, so that this covers starting it, too.
   */
  accept?: number;
  /** Milliseconds from our reply until the page must have completed its setup. Default 1 800 000. */
  setup?: number;
}

export interface FrameLimits {
  /** Bytes of one message as JSON in UTF-8, in either direction. Default 64 MiB. */
  maxMessageBytes?: number;
  /** Arrays and objects inside each other in one message, in either direction. Default 100. */
  maxNesting?: number;
  /** Requests without an answer, per direction. Default 1000. */
  maxPending?: number;
}

/** The `sandbox` attribute by preset. `strict` takes away the page's origin: see `FrameTransportOptions.opaque`. */
export declare const SANDBOX: { readonly standard: string; readonly popups: string; readonly strict: string };

export type Visibility = "required" | "optional" | "hidden";

/** One message at the gate, as `onWire` is told of it. */
export interface Wire {
  direction: "sent" | "received";
  /** Its JSON text; null where it was not read, as nothing of a stranger is, or is not JSON within the limits. */
  text: string | null;
  /** Where it came from, or the target origin that it was posted to. */
  origin: string;
  /** Why it did not pass, in a sentence; null where it did. */
  refused: string | null;
}

interface FrameOptions {
  /** The http(s) address of the page; a `#setup` in it is left out. */
  url: string | URL;
  /** To resume what the page stored under this id. By default a new random one. */
  sessionId?: string | undefined;
  /** The Permissions Policy features that are granted, such as "clipboard-read". Nothing else gets into `allow`. */
  permissions?: readonly string[] | undefined;
  /** What an earlier setup said; `required` shows the iframe at the start. Default hidden. */
  visibility?: Visibility | undefined;
  /** One number for the deadlines of both handshakes, or each; in milliseconds, `Infinity` for none. */
  timeout?: number | FrameTimeouts | undefined;
  limits?: FrameLimits | undefined;
  /**
   * Milliseconds until `onunresponsive` tells of a page that is silent while requests wait. After half of it the page is
   * asked. Default 20 000; `Infinity` never asks.
   */
  unresponsiveAfter?: number | undefined;
  /**
   * The `color-scheme` of the iframe, which the page follows. By default that of the host's page, which is light if it
   * declares none; "light dark" leaves it to the system.
   */
  colorScheme?: "light" | "dark" | "light dark" | undefined;
  /**
   * Called with every message, in either phase, as it is sent, received or refused. It costs; for inspecting. Of what
   * other windows post to this one, only the origin is told.
   */
  onWire?: ((wire: Wire) => void) | undefined;
}

interface IframeOptions extends FrameOptions {
  /** An iframe in the document. Whatever it showed is replaced, and its `allow` attribute too. */
  iframe: HTMLIFrameElement;
  popup?: false | undefined;
  /**
   * A name of `SANDBOX`, or the text of the iframe's `sandbox` attribute. By default the attribute that it has, or else
   * `standard`.
   */
  sandbox?: keyof typeof SANDBOX | (string & {}) | undefined;
  /**
   * The page is in a sandbox without `allow-same-origin`. Its origin is "null", like that of every such frame, so that
   * messages can only be posted to "*": whatever is in that iframe reads them.
   */
  opaque?: boolean | undefined;
}

interface PopupOptions extends FrameOptions {
  /** Open the page in a popup: call `setup()` and `connect()` in answer to a click, or it will be blocked. */
  popup: true;
  iframe?: undefined;
}

export type FrameTransportOptions = IframeOptions | PopupOptions;

/** A browser permission that a page asks for in its setup (draft specification of 2025-07). */
export interface PermissionRequest {
  /** The Permissions Policy feature. */
  name: string;
  /** The phases it is needed in, of "setup" and "transport". */
  phase: string[];
  /** Whether the page is useless without it. */
  required: boolean;
  /** A sentence for the user. */
  purpose: string;
}

/** The codes of the protocol; a page may have its own, which is handed on as it is. */
export type SetupErrorCode =
  | "USER_CANCELLED"
  | "AUTH_FAILED"
  | "TIMEOUT"
  | "CONFIG_ERROR"
  | "VERSION_MISMATCH"
  | "INSUFFICIENT_PERMISSIONS"
  | (string & {});

/** How a setup ended. */
export interface SetupResult {
  /** The name for this configuration; empty where the page gave none. */
  title: string;
  /** Whether the page is to be seen in the transport phase. */
  visibility: Visibility;
  /** For `optional`: what the user gains from seeing it. */
  visibilityMessage?: string;
  /** A short notice for the user. */
  ephemeralMessage?: string;
  /** Where the setup failed or was cancelled. */
  error?: { code: SetupErrorCode; message: string };
}

/** What a page says that needs its setup phase again (`MCP_SETUP_REQUIRED` of the SEP). */
export interface SetupRequest {
  reason: "AUTH_EXPIRED" | "CONFIG_CHANGED" | "PERMISSIONS_CHANGED" | "OTHER";
  message: string;
  canContinue: boolean;
}

/** An MCP transport to a page in an iframe or a popup. One transport serves one session. */
export declare class FrameTransport {
  constructor(options: FrameTransportOptions);

  /** The id that the framed page may scope its storage by. */
  frameSessionId: string;
  /** The one origin that is heard and posted to; "null" for an opaque one. */
  origin: string;
  /** The names of the permissions that are granted, so far. */
  permissions: string[];
  /** Whether the framed page is shown. */
  readonly visible: boolean;

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the SDK's own message types are assignable to it
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  /** Errors reported here don't end the session, except one that is followed by `onclose`. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called once, when the session is over for whatever reason. */
  onclose?: (() => void) | undefined;
  /** The page asks for its setup again. */
  onsetuprequired?: ((request: SetupRequest) => void) | undefined;

  /** The page does not answer while requests wait (true), or does again (false): offer `reload()`. */
  onunresponsive?: ((unresponsive: boolean) => void) | undefined;

  /** The page has loaded and has not called for 3 s: what to check. It is waited for until the deadline. */
  onhint?: ((hint: string) => void) | undefined;

  /** The iframe is shown or hidden. */
  onvisibility?: ((visible: boolean) => void) | undefined;
  /**
   * Asked what to grant, where a setup asks for permissions that nobody has decided on; gives names. Without it nothing
   * more is granted.
   */
  onpermissions?: ((requested: PermissionRequest[]) => string[] | Promise<string[]>) | undefined;

  /** Run the page's setup phase, before `connect()`. The iframe is shown as long as the page needs to be seen. */
  setup(options?: { signal?: AbortSignal | undefined }): Promise<SetupResult>;
  /** Show the iframe, or bring the popup to the front. */
  show(): void;
  /** Hide the iframe; its page goes on running. A popup can't be hidden. */
  hide(): void;
  /**
   * End this session, and make the transport of the next one: it loads the page anew, in the same place and with the same
   * session id. Connect another client to it.
   */
  reload(): FrameTransport;
  /** Load the page and shake hands with it. `Client.connect()` calls this. */
  start(): Promise<void>;
  /** Send one JSON-RPC message. */
  send(message: object): Promise<void>;
  /** End the session. Pending requests fail; an iframe stays, for the host to hide or remove, a popup closes. */
  close(): Promise<void>;
}
