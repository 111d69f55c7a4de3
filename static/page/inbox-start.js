// The inline script of a server's page.
import { listen } from "./inbox.js";

listen();
