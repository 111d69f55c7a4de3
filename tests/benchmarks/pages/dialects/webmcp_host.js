/** Executes the tools of this document. */
import { callEcho } from "../calling.js";

const { modelContext } = document;
let echo;
const client = {
  callTool: async (call) => JSON.parse(await modelContext.executeTool(echo, call.arguments)),
};

globalThis.bench = {
  async openTab() {
    const find = async () => (await modelContext.getTools()).find(({ name }) => name === "echo");
    const changed = new Promise((resolve) => {
      modelContext.addEventListener("toolchange", async () => (await find()) && resolve(find()));
    });
    echo = (await find()) ?? (await changed);
  },
  calls: (_peer, ...given) => callEcho(client, ...given),
};
