// The spare frame of the playground's page, which begins before the editor's scripts run.
import { donor } from "./first.js";
import { Spare } from "./run-frame.js";

export const spare = new Spare(document.getElementById("place"), donor);

// In another page nothing runs. A run says what is missing.
if (top === self) spare.prepare().catch(() => {});
