/** Types of app-hub.js. */

/**
 * Joins an app of several tabs: what this page offers, as a page server (MCP-B) or at its `document.modelContext` (WebMCP),
 * also later, is in the app's hub, which is in a tab that runs Python.
 * @param app The name of the app, as `AppHub` has it; `app` by default.
 * @returns A function that leaves the app.
 */
export function joinApp(app?: string): () => void;

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
