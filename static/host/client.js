/** The source of bundled/client.js: the official SDK's client in one file. */
export { Client } from "@modelcontextprotocol/client";
