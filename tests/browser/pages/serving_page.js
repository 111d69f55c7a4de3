/** The inverted architecture in JavaScript: the official TypeScript server, outside, over host.js. Tests bundle it. */
import { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { FrameTransport } from "./host.js";

const USER = { id: "u-1", name: "Grace Okafor", email: "grace@example.com", role: "Designer", team: "Studio" };
const LATE = {
  id: "p-1",
  name: "Poster",
  status: "at risk",
  progress: 40,
  due: "2026-01-15",
  overdue: true,
  open_tasks: 2,
};
const NEXT = {
  id: "p-2",
  name: "Booklet",
  status: "in progress",
  progress: 10,
  due: "2026-12-01",
  overdue: false,
  open_tasks: 5,
};

/** As text and structured: clients of either kind get the same. */
const told = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value });

function makeServer(calls) {
  const server = new McpServer({ name: "studio", title: "Studio", version: "1.0.0" });
  const offer = (name, description, answer, inputSchema = z.object({})) =>
    server.registerTool(name, { description, inputSchema }, (args) => {
      calls.push([name, args]);
      return answer(args);
    });
  offer("getCurrentUser", "Who is signed in.", () => told(USER));
  offer(
    "getUserProjects",
    "Their projects.",
    ({ overdue_only: late }) => told({ projects: late ? [LATE] : [LATE, NEXT] }),
    z.object({ overdue_only: z.boolean().optional() }),
  );
  offer("getSystemHealth", "How the systems are.", () => {
    throw new Error("The monitor is away.");
  });
  offer("getTeamStats", "The team in numbers, as text only.", () => {
    const { content } = told({
      team: "Studio",
      members: [{ name: "Grace Okafor", open_tasks: 7 }],
      open_tasks: 7,
      done_this_week: 1,
      projects: 2,
      projects_done: 0,
      projects_overdue: 1,
    });
    return { content };
  });
  return server;
}

window.lab = {
  sessionId: crypto.randomUUID(),
  calls: [],

  frame(url) {
    document.querySelector("iframe")?.remove();
    const iframe = document.body.appendChild(document.createElement("iframe"));
    iframe.title = "Copilot";
    const { sessionId } = this;
    this.transport = new FrameTransport({
      iframe,
      url,
      sessionId,
      visibility: "required",
      timeout: { handshake: 90_000 },
    });
  },

  async setUp(url) {
    this.frame(url);
    const { title, visibility } = await this.transport.setup();
    return { title, visibility };
  },

  async serve(url) {
    this.frame(url);
    this.server = makeServer(this.calls);
    await this.server.connect(this.transport);
  },

  /** End the session, and leave the frame where it is. */
  async hangUp() {
    await this.server.close();
  },
};
