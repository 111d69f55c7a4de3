import { Client } from "@modelcontextprotocol/client";
import { AppHubTransport, joinApp } from "@mcpframe/host/app-hub";

export const leave = joinApp("notes");

const client = new Client({ name: "notes", version: "1.0.0" });
await client.connect(new AppHubTransport("notes"));
