// The first script of the playground: it begins what the first run waits for, and loads the rest beside that.
import { Donor } from "./donor.js";
import { Spare } from "./run-frame.js";

export const donor = new Donor(document.baseURI);
export const spare = new Spare(document.getElementById("place"), donor);

// In another page nothing runs. A run says what is missing.
if (top === self) spare.prepare().catch(() => {});
import("./main.js");
