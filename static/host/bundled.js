/** The source of the npm package's bundled.js: host.js and the official SDK's client in one file. */
export { Client } from "@modelcontextprotocol/client";
export * from "./host.js";
