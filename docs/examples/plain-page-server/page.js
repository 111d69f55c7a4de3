/** Makes this page a page server of MCP-B, with the tools of a page that speaks plain MCP. */
import { embedPageServer } from "./page-server.js";

embedPageServer("https://tools.example/adder/", { dialect: "plain_mcp" });
