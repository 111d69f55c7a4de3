// Prints what `static/host/visible.js` makes of each text of the JSON array on standard input.
import { readFileSync } from "node:fs";
import { visible } from "../../static/host/visible.js";

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map((text) => visible(text))));
