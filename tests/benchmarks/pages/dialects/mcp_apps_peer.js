/** The peer: an app with the official App SDK. */
import { App } from "@modelcontextprotocol/ext-apps";

const app = new App({ name: "echo", version: "0.1.0" }, { tools: {} });
app.oncalltool = async (params) => ({ content: [{ type: "text", text: params.arguments.text }] });
await app.connect();
