// The first script of the playground: it begins what the first run waits for, and only then loads the editor's scripts, as
// the browser runs nothing else of the page while it runs these.
import { Donor } from "./donor.js";

export const donor = new Donor(document.baseURI);

import("./spare.js").then(() => import("./main.js"));
