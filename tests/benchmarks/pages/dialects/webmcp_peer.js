/** The peer: a tool that the page registers by hand. */
document.modelContext.registerTool({
  name: "echo",
  description: "Return the text back.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: async ({ text }) => ({ content: [{ type: "text", text }] }),
});
