// Limits of a view's text and of its bundle's page, while the bundle starts. Times are in ms.

/** The time for the bundle's page to load. */
export const LOADING = 30_000;
/** The time for its first message once it has loaded, which its first bytes post. */
export const CALLING = 100;
/** The time for it to draw, until its progress is shown. */
export const DRAWING = 1_000;
/** The time for it to run once the host has answered: the usual `boot_timeout`. */
export const STARTING = 60_000;
/** The messages of the host that are kept until there is a listener for them. */
export const MOST_KEPT = 100;
/** The characters of a result's text that are held after the bundle has got it. */
export const MOST_HELD = 100_000;
