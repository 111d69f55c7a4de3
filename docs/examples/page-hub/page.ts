import { Client } from "@modelcontextprotocol/client";
import { PageHubTransport, joinHub } from "@mcpframe/host/page-hub";

export const leave = joinHub("notes");

const client = new Client({ name: "notes", version: "1.0.0" });
await client.connect(new PageHubTransport("notes"));
