// The inline script of a page with a snapshot; see prefetch.js.
import { prefetch } from "./prefetch.js";

prefetch();
