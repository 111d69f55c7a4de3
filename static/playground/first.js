// The first script of the playground: it fetches what the first run is made of, and loads the rest beside that. It is small,
// as the browser runs nothing else of the page while it runs the editor's scripts.
import { Donor } from "./donor.js";

export const donor = new Donor(document.baseURI);

// In another page nothing runs. A run says what is missing.
if (top === self && !navigator.connection?.saveData) donor.first().catch(() => {});
import("./spare.js").then(() => import("./main.js"));
