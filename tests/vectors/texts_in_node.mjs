// What a page hands to Python of what was posted to it: `textOrReason` of host-json.js, for each `make` of an array of them.
// usage: node texts_in_node.mjs URL_OF_HOST_JSON_JS MAKES TEXTS [unasked], two files
import { readFileSync, writeFileSync } from "node:fs";

const { textOrReason } = await import(process.argv[2]);
const makes = JSON.parse(readFileSync(process.argv[3], "utf8"));
const isWanted = process.argv[5] !== "unasked";
const texts = makes.map((make) => textOrReason(structuredClone(new Function(`return (${make})`)()), {}, isWanted));
writeFileSync(process.argv[4], JSON.stringify(texts));
