/** Types of app-hub.js. */

export interface JoinOptions {
  /** The name of the page server's channel; `mcp-default` by default. */
  channel?: string;
}

/**
 * Joins an app of several tabs: the tools of this page's server (MCP-B), also of one that comes later, are those of the
 * app's hub, which is in a tab that runs Python.
 * @param app The name of the app, as `AppHub` has it; `app` by default.
 * @returns A function that leaves the app.
 */
export function joinApp(app?: string, options?: JoinOptions): () => void;

/**
 * A transport of the official TypeScript SDK's `Client` to the hub of an app. When another tab leads, the session ends
 * (`onclose`): requests that wait get errors, and the client connects with a new transport.
 */
export class AppHubTransport {
  /** @param app The name of the app, as `AppHub` has it; `app` by default. */
  constructor(app?: string);
  onmessage?: (message: any) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  start(): Promise<void>;
  send(message: any): Promise<void>;
  close(): Promise<void>;
}
