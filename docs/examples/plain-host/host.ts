import { Client } from "@modelcontextprotocol/client";
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";

/** Frame a server, and connect to it; the page of its address has to allow this page's origin. */
export async function connect(url: string): Promise<Client> {
  const iframe = document.createElement("iframe");
  iframe.src = url;
  document.body.append(iframe);
  await new Promise((resolve) => iframe.addEventListener("load", resolve, { once: true }));
  const client = new Client({ name: "my-host", version: "1.0.0" });
  await client.connect(new PostMessageTransport(iframe.contentWindow!, iframe.contentWindow!), { timeout: 120_000 });
  return client;
}
