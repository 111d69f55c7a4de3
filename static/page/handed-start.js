// The inline script of a page whose files do not come from its address; see handed.js.
import { start } from "./handed.js";

start();
