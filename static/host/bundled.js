/** What a host in a page needs, with the official SDK's client in it: built into one file, which needs no import map. */
export { Client } from "@modelcontextprotocol/client";
export * from "./host.js";
