import { Client } from "@modelcontextprotocol/client";
import { FrameError, FrameTransport, type PermissionRequest, type SetupResult, type Visibility } from "@mcpframe/host";

/** What a host remembers of a server that its user has added. */
interface Added {
  url: string;
  sessionId: string;
  title: string;
  visibility: Visibility;
}

/** Run a server's setup once, when the user adds its address. */
export async function add(url: string, iframe: HTMLIFrameElement, signal: AbortSignal): Promise<Added> {
  const transport = new FrameTransport({ iframe, url });
  transport.onpermissions = (requested) => requested.filter(agreed).map(({ name }) => name);
  let result: SetupResult;
  try {
    result = await transport.setup({ signal });
  } finally {
    await transport.close();
  }
  if (result.error) throw new Error(`${result.error.code}: ${result.error.message}`);
  if (result.ephemeralMessage) console.info(result.ephemeralMessage);
  return { url, sessionId: transport.frameSessionId, title: result.title, visibility: result.visibility };
}

/** Connect to it, now and whenever the host's page is opened again. */
export async function connect(added: Added, iframe: HTMLIFrameElement): Promise<Client> {
  const { url, sessionId, visibility } = added;
  const transport = new FrameTransport({ iframe, url, sessionId, visibility, timeout: { handshake: 60_000 } });
  transport.onsetuprequired = ({ reason, message }) => console.warn(`Set it up again (${reason}): ${message}`);
  const client = new Client({ name: "my-host", version: "1.0.0" });
  client.onclose = () => iframe.remove();
  client.onerror = (error) => {
    if (error instanceof FrameError && error.name === "UnexpectedOrigin") console.warn(error.message);
  };
  await client.connect(transport);
  if (visibility === "optional" && confirm(`Show ${added.title}?`)) transport.show();
  return client;
}

function agreed({ name, purpose, required }: PermissionRequest): boolean {
  return confirm(`${purpose || "The page asks for a permission."}\n\n${name}${required ? ", required" : ""}`);
}
