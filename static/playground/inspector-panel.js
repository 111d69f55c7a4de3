// The site's inspector beside the editor, on a run of its own of the project that runs. It is fetched when its tab is opened.
import { $, element, enable } from "./page.js";
import { Lending } from "./lending.js";

const INSPECTOR = "../gallery/inspector/";
const WORKER = "../offline.js"; // the site's service worker: the inspector is out of reach of the playground's
const TABS = ["in-forms", "in-inspector"];

export class InspectorPanel {
  /** @type {import("./lending.js").Lent | null} */
  #project = null; // the one that runs
  /** @type {Lending | null} */
  #lending = null;

  constructor() {
    for (const [at, id] of TABS.entries()) {
      $(id).addEventListener("click", () => this.#select(id));
      $(id).addEventListener("keydown", ({ key }) => {
        if (key === "ArrowLeft" || key === "ArrowRight") $(TABS[1 - at]).focus();
      });
    }
    enable("in-inspector");
  }

  /** A run has begun: the inspector has one of the same files once it is shown. @param {import("./lending.js").Lent} project */
  started(project) {
    this.#project = project;
    this.#update();
  }

  /** The run has ended, and so does the inspector's. */
  ended() {
    this.#project = null;
    this.#lending?.end();
    this.#lending = null;
    this.#update();
  }

  get #isShown() {
    return !$("inspector").hidden;
  }

  #select(chosen) {
    for (const id of TABS) {
      const isChosen = id === chosen;
      $(id).ariaSelected = String(isChosen);
      $(id).tabIndex = isChosen ? 0 : -1;
      $($(id).getAttribute("aria-controls")).hidden = !isChosen;
    }
    this.#update();
  }

  #update() {
    if (this.#lending || !this.#isShown) return;
    if (!this.#project) {
      const text = "Run the server: the inspector opens on a run of its own.";
      return $("inspector").replaceChildren(element("p", { className: "quiet", textContent: text }));
    }
    const lending = new Lending(this.#project);
    this.#lending = lending;
    const iframe = /** @type {HTMLIFrameElement} */ (element("iframe", { title: "The inspector" }));
    $("inspector").replaceChildren(iframe);
    keptOffline().then(() => {
      const run = new URL(`run.html${lending.fragment}`, document.baseURI);
      const link = new URLSearchParams({ add: run.href, title: lending.name });
      if (this.#lending === lending) iframe.src = `${INSPECTOR}#${link}`;
    });
  }
}

/** Has the browser keep what the inspector fetches, where it keeps anything. */
async function keptOffline() {
  try {
    const registration = await navigator.serviceWorker.register(new URL(WORKER, document.baseURI));
    const worker = registration.installing ?? registration.waiting;
    if (registration.active || !worker) return;
    await new Promise((resolve) => {
      worker.addEventListener("statechange", () => /^(activated|redundant)$/.test(worker.state) && resolve(undefined));
    });
  } catch {
    // It works with the network alone.
  }
}
