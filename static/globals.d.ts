/** What scripts find in their pages besides the browser's standard API, for `tsc` (tsconfig.json). */

/** The API of extensions. */
declare var chrome: any;
/** Of classic workers. */
declare function importScripts(...urls: string[]): void;
/** What Python puts into the page of the bridge. */
declare var mcpframeBridge: any;
/** Of host-json.js, in scripts that are put together with it. */
declare function textOrReason(data: unknown, limits?: object): any;
/** Of hub/pieces.js, likewise. */
declare function postInPieces(text: string, longest: number, post: (piece: string) => void): void;

interface Document {
  readonly prerendering: boolean;
  readonly modelContext: any;
}
interface Navigator {
  readonly connection?: any;
}

declare const OWN_FILES: any;
declare const OTHER_FILES: string[] | null;
declare const HASHED_NAME: string;

declare module "*/mcp-client.js" {
  export const Client: any;
}
declare module "*/hub-scripts.js" {
  export const documentTools: any;
  export const pageHalf: any;
}
