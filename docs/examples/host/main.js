import { Client } from "@modelcontextprotocol/client";
import { FrameTransport } from "@mcpframe/host";

const iframe = document.body.appendChild(document.createElement("iframe"));
const client = new Client({ name: "my-host", version: "1.0.0" });
await client.connect(new FrameTransport({ iframe, url: "https://tools.example/adder/" }));
const { tools } = await client.listTools();
const answer = await client.callTool({ name: "add", arguments: { a: 1, b: 2 } });
document.querySelector("#answer").textContent = `${tools[0].name}: ${answer.content[0].text}`;
