/** The peer: the same page by hand, as the documentation of mcp-ui has it. */
const waiting = new Map();

function act(type, payload) {
  const messageId = crypto.randomUUID();
  const answered = new Promise((resolve, reject) => waiting.set(messageId, { resolve, reject }));
  parent.postMessage({ type, messageId, payload }, "*");
  return answered;
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.type !== "ui-message-response") return;
  const { response, error } = data.payload;
  const { resolve, reject } = waiting.get(data.messageId);
  waiting.delete(data.messageId);
  if (error) reject(error);
  else resolve(response);
});
parent.postMessage({ type: "ui-lifecycle-iframe-ready" }, "*");

let samples = [];
for (;;) {
  const { texts } = await act("intent", { intent: "next", params: { samples } });
  if (!texts.length) break;
  samples = [];
  for (const text of texts) {
    const sent = performance.now();
    const answer = await act("tool", { toolName: "echo", params: { text } });
    samples.push(performance.now() - sent);
    if (answer.content[0].text !== text) throw new Error("another text");
  }
}
