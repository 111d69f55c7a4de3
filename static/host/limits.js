/** Deadlines and limits; Python has the same values in `frame/core/limits.py`. Times are in milliseconds. */

export const DEFAULT_TIMEOUT = 30_000;
export const SETUP_TIMEOUT = 30 * 60_000;
/** How long a page may be silent until it is asked whether it still runs, and how long it has to answer. */
export const DEFAULT_SILENCE = 10_000;
/** The wait before a silent page is loaded again: earlier, the browser would load it into the blocked process. */
export const BLOCKED_PROCESS_END = 5_000;
/** From the load of a page without a handshake to the hint: a bundle sends its handshake before it has loaded. */
export const HINT_AFTER = 2_000;
/** The most rounds of permissions in one setup: the page is loaded again after each. */
export const MOST_DECISIONS = 3;
export const DEFAULT_LIMITS = { maxMessageBytes: 64 * 1024 * 1024, maxNesting: 100, maxPending: 1000 };
