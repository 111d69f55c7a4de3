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
  /** Milliseconds from our reply until the page must have accepted the session. Default 30 000. */
  accept?: number;
}

export interface FrameLimits {
  /** Bytes of one message as JSON in UTF-8, in either direction. Default 64 MiB. */
  maxMessageBytes?: number;
  /** Arrays and objects inside each other in one message, in either direction. Default 100. */
  maxNesting?: number;
  /** Requests without an answer, per direction. Default 1000. */
  maxPending?: number;
}

export interface FrameTransportOptions {
  /** An iframe in the document. Whatever it showed is replaced. */
  iframe: HTMLIFrameElement;
  /** The http(s) address of the page; a `#setup` in it is left out. */
  url: string | URL;
  /** To resume what the page stored under this id. By default a new random one. */
  sessionId?: string;
  /** The iframe's `sandbox` attribute. By default as it is. */
  sandbox?: string;
  /** The iframe's `allow` attribute (Permissions Policy). By default as it is. */
  allow?: string;
  /** One number for both deadlines, or each; in milliseconds, `Infinity` for none. */
  timeout?: number | FrameTimeouts;
  limits?: FrameLimits;
  /**
   * The page is in a sandbox without `allow-same-origin`. Its origin is "null", like that of every such frame, so that
   * messages can only be posted to "*": whatever is in that iframe reads them.
   */
  opaque?: boolean;
}

/** What a page says that needs its setup phase again (`MCP_SETUP_REQUIRED` of the SEP). */
export interface SetupRequest {
  reason: "AUTH_EXPIRED" | "CONFIG_CHANGED" | "PERMISSIONS_CHANGED" | "OTHER";
  message: string;
  canContinue: boolean;
}

/** An MCP transport to a page in an iframe. One transport serves one session. */
export declare class FrameTransport {
  constructor(options: FrameTransportOptions);

  /** The id that the framed page may scope its storage by. */
  frameSessionId: string;
  /** The one origin that is heard and posted to; "null" for an opaque one. */
  origin: string;

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the SDK's own message types are assignable to it
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  /** Errors reported here don't end the session, except one that is followed by `onclose`. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called once, when the session is over for whatever reason. */
  onclose?: (() => void) | undefined;
  /** The page asks for its setup again. */
  onsetuprequired?: ((request: SetupRequest) => void) | undefined;

  /** Load the page and shake hands with it. `Client.connect()` calls this. */
  start(): Promise<void>;
  /** Send one JSON-RPC message. */
  send(message: object): Promise<void>;
  /** End the session. Pending requests fail; the iframe stays, for the host to hide or remove. */
  close(): Promise<void>;
}
