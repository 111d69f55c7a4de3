// What browsers read of each text: its origin and its address, as the URL Standard has them; null for no address.
// usage: node addresses_in_node.mjs TEXTS READINGS, two files
import { readFileSync, writeFileSync } from "node:fs";

const read = (text) => {
  if (!URL.canParse(text)) return null;
  const { href, origin } = new URL(text);
  return { href, origin };
};
writeFileSync(process.argv[3], JSON.stringify(JSON.parse(readFileSync(process.argv[2], "utf8")).map(read)));
