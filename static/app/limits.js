// Limits of a view's text and of its bundle's page, in ms, bytes and CSS pixels: described in `mcpframe.kit.base.limits`,
// which has the same.

export const LOADING = 30_000;
export const CALLING = 100;
export const PAINTING = 200;
export const DRAWING = 1_000;
export const STARTING = 60_000;

export const LEAST_FILLED = 320;
export const MOST_KEPT = 100;
export const MOST_HELD = 100_000;
