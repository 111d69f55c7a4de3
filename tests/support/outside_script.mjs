/** Runs `static/extension/outside.js` where the hub's document cannot be had at first, and prints what happens. */
import { readFileSync } from "node:fs";
import vm from "node:vm";

const started = [];
const inside = [];
const granted = [];
let reloads = 0;
let there = false;

function portOf(ports) {
  const port = { ended: false, posted: [], heard: [] };
  port.onMessage = { addListener: (heard) => port.heard.push(heard) };
  port.onDisconnect = { addListener() {} };
  port.postMessage = (message) => port.posted.push(message);
  port.disconnect = () => (port.ended = true); // whoever disconnects is not told of it
  ports.push(port);
  return port;
}

const context = {
  ensureHub: async () => {
    if (!there) throw new Error("no hub");
  },
  report() {},
  chrome: {
    runtime: {
      connectNative: () => portOf(started),
      connect: () => portOf(inside),
      onConnectExternal: { addListener() {} },
      reload: () => (reloads += 1),
    },
    permissions: { onAdded: { addListener: (heard) => granted.push(heard) } },
  },
};
vm.runInNewContext(`${readFileSync(process.argv[2], "utf8")}; globalThis.startProgram = startProgram;`, context);
const settled = () => new Promise((resolve) => setImmediate(resolve));

context.startProgram();
await settled();
there = true;
context.startProgram();
for (let number = 0; number <= 1000; number += 1) started[1]?.heard[0](number); // more than is kept until there is a hub
await settled();
context.startProgram();
await settled();
context.startProgram(); // it runs
for (const heard of granted) {
  heard({ origins: ["https://a.example/*"] });
  heard({ permissions: ["tabs"] });
  heard({ permissions: ["nativeMessaging"] });
}
const ends = started.map(({ ended }) => ended);
console.log(JSON.stringify({ started: ends, inside: inside.map(({ posted }) => posted), reloads }));
