// A project's link as a server that other pages embed: `run.html#1.…`; or a project that the playground lends, for this
// site's inspector: `run.html#kept=…`. Nothing of the project runs in this page, whose origin has the playground's projects:
// the server is in a frame of opaque origin, and this page relays its messages. `#setup,…` is its setup phase.
import { Place } from "../host/frames.js";
import { Donor } from "./donor.js";
import { borrowed, lentBy } from "./lending.js";
import { readLink } from "./link.js";
import { $, element } from "./page.js";
import { ProjectError } from "./project-files.js";
import { Relay } from "./relay.js";
import { SANDBOX } from "./run-frame.js";
import { hostsOf, serverPage } from "./server-page.js";

const SETUP = "setup"; // in the fragment: see `addressFor` in ../host/setup.js

async function begin() {
  const { hash } = location;
  const words = hash.slice(1).split(",");
  const fragment = words.filter((word) => word !== SETUP).join(",");
  const lent = lentBy(fragment);
  if (parent === self) {
    if (lent !== null) throw new ProjectError("This is a run for the inspector of this site.");
    const link = element("a", { href: `./${hash}`, textContent: "Open it in the playground" });
    return say("This is a server for other pages to embed. ", link);
  }
  if (self.origin === "null") throw new ProjectError("Give the frame of this page allow-same-origin in its sandbox.");
  const project = lent === null ? await readLink(fragment) : await borrowed(lent);
  if (!project || !("files" in project)) throw new ProjectError("There is no server in this address.");
  const hosts = lent === null ? hostsOf(project.files) : ["self"];
  const wheelsFor = "wheels" in project ? async () => project.wheels : undefined;
  const page = await serverPage(new Donor(document.baseURI), project.files, {
    wheelsFor,
    setsUp: words.includes(SETUP),
  });
  const iframe = /** @type {any} */ (element("iframe", { title: project.name }));
  $("place").replaceChildren(iframe);
  const place = new Place(iframe, { sandbox: SANDBOX, handed: page, onShown() {} });
  const relay = new Relay(hosts, { host: parent, server: iframe.contentWindow });
  place.open("", { message: (event) => relay.take(event), load() {}, gone() {} });
  place.navigate();
}

function say(...parts) {
  $("place").replaceChildren(element("p", {}, ...parts));
}

begin().catch((error) => {
  say(error.message);
  if (!(error instanceof ProjectError)) throw error;
});
