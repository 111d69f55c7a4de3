import { Client } from "@modelcontextprotocol/client";
import { PostMessageTransport } from "@modelcontextprotocol/ext-apps";

/** Frame a server, and connect to it; the page of its address has to allow this page's origin. */
export async function connect(url: string): Promise<Client> {
  const iframe = document.createElement("iframe");
  iframe.src = url;
  document.body.append(iframe);
  await new Promise((resolve) => iframe.addEventListener("load", resolve, { once: true }));
  const target = iframe.contentWindow;
  if (!target) throw new Error("The frame was removed while it loaded.");
  const client = new Client({ name: "my-host", version: "1.0.0" });
  await client.connect(new PostMessageTransport(target, target), { timeout: 120_000 });
  return client;
}
