// What the types of host.js promise, held against the types of both official packages. Compiled, never run.
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { McpServer, type Transport as ServerTransport } from "@modelcontextprotocol/server";
import {
  FrameError,
  type FrameErrorName,
  FrameTransport,
  type FrameTransportOptions,
  type PermissionRequest,
  PROTOCOL_VERSION,
  SANDBOX,
  type SetupErrorCode,
  type SetupRequest,
  type SetupResult,
  type Visibility,
} from "./host.js";

declare const iframe: HTMLIFrameElement;
const url = new URL("https://tools.example/pi/");

// Either package takes it, in either architecture.
export const forClient: Transport = new FrameTransport({ iframe, url });
export const forServer: ServerTransport = new FrameTransport({ iframe, url: "/pi/" });
await new Client({ name: "host", version: "1" }).connect(new FrameTransport({ iframe, url }));
await new McpServer({ name: "host", version: "1" }).connect(new FrameTransport({ iframe, url }));

// Every option, and the names of sandboxes beside texts.
const options: FrameTransportOptions = {
  iframe,
  url,
  sessionId: crypto.randomUUID(),
  sandbox: "standard",
  permissions: ["clipboard-read"],
  visibility: "optional",
  timeout: { handshake: 1, accept: Infinity, setup: 3 },
  limits: { maxMessageBytes: 1, maxNesting: 2, maxPending: 3 },
  opaque: false,
};
const transport = new FrameTransport(options);
new FrameTransport({ popup: true, url, timeout: 1000 });
new FrameTransport({ iframe, url, sandbox: SANDBOX.strict, opaque: true });
new FrameTransport({ iframe, handed: { html: "<!doctype html>", files: { "a.zip": new Blob() } }, opaque: true });
new FrameTransport({ iframe, handed: { html: "", address: "https://a.run.example/" } });
new FrameTransport({ iframe, url, sandbox: "allow-scripts allow-same-origin" });

// What a host does not know may be passed as undefined.
declare const known: { sessionId?: string; visibility?: Visibility } | undefined;
new FrameTransport({ iframe, url, sessionId: known?.sessionId, visibility: known?.visibility, sandbox: undefined });

// @ts-expect-error  an iframe or a popup, not both
new FrameTransport({ iframe, popup: true, url });
// @ts-expect-error  one of them is needed
new FrameTransport({ url });
// @ts-expect-error  an address is needed
new FrameTransport({ iframe });
// @ts-expect-error  a page that is handed over has no origin
new FrameTransport({ iframe, handed: { html: "" } });
// @ts-expect-error  one that is handed over to an address has an origin
new FrameTransport({ iframe, handed: { html: "", address: "https://a.run.example/" }, opaque: true });
// @ts-expect-error  a popup has no sandbox
new FrameTransport({ popup: true, url, sandbox: "strict" });
// @ts-expect-error  no such visibility
new FrameTransport({ iframe, url, visibility: "sometimes" });

// The callbacks have typed arguments.
transport.onmessage = (message: JSONRPCMessage) => void message;
transport.onerror = (error) => void error.message;
transport.onclose = undefined;
transport.onvisibility = (visible) => visible satisfies boolean;
transport.onpermissions = async (requested: PermissionRequest[]) => requested.map(({ name }) => name);
transport.onpermissions = (requested) => requested.filter(({ required }) => required).map(({ purpose }) => purpose);
transport.onsetuprequired = ({ reason, message, canContinue }: SetupRequest) => {
  reason satisfies "AUTH_EXPIRED" | "CONFIG_CHANGED" | "PERMISSIONS_CHANGED" | "OTHER";
  message satisfies string;
  canContinue satisfies boolean;
};

// What is to be read.
const result: SetupResult = await transport.setup({ signal: AbortSignal.timeout(1000) });
const visibility: Visibility = result.visibility;
const code: SetupErrorCode | undefined = result.error?.code;
const name: FrameErrorName = new FrameError("PeerGone", "It has gone.").name;
export const texts: string[] = [transport.frameSessionId, transport.origin, result.title, visibility, name, code ?? ""];
export const visible: boolean = transport.visible;
export const version: "1.0" = PROTOCOL_VERSION;
transport.show();
transport.hide();
// @ts-expect-error  to be asked for, not set
transport.visible = true;
// @ts-expect-error  a new setup is a new transport's
transport.setup("now");

// A page that does not answer is loaded anew.
const silent = new FrameTransport({ iframe, url, unresponsiveAfter: 5_000 });
silent.onunresponsive = (unresponsive: boolean) => void (unresponsive && silent.reload().start());
