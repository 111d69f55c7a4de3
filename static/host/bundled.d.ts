/** Types of bundled.js: those of the package, and the client of `@modelcontextprotocol/client`, which they come from. */
export { Client } from "@modelcontextprotocol/client";
export * from "./host.js";
