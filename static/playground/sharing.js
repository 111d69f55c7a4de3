// Links and downloads of the project that is open, and the project of the page's own address.
import { exported } from "./export.js";
import { LONG_LINK, LONGEST_LINK, linkOf, readLink } from "./link.js";
import { $, notice, save } from "./page.js";
import { checkFiles } from "./project-files.js";
import { fromTemplate, newProject, templates } from "./projects.js";
import { hostsOf } from "./server-page.js";
import { zipOf } from "./zip.js";

/** Shows the link of a project. @param {import("./store.js").Project} project */
export async function share({ name, files }) {
  const fragment = await linkOf({ name, files: checkFiles(files) });
  const link = `${location.origin}${location.pathname}${fragment}`;
  if (link.length > LONGEST_LINK)
    return notice("The project is too large for a link: download it, and share the file.");
  $("link").value = link;
  $("link-note").textContent =
    link.length > LONG_LINK
      ? `${link.length} characters: some programs cut such a link; the file is safer.`
      : `${link.length} characters. The project is in the link, and on no server.`;
  $("embed").value = new URL(`run.html${fragment}`, document.baseURI).href;
  $("embed-note").textContent = whoMayEmbed(files);
  $("share-dialog").showModal();
  $("link").select();
}

/** Returns which pages may embed a project's link as a server. */
function whoMayEmbed(files) {
  try {
    return `For the src of a frame, and the url of a FrameTransport. These pages may embed it: ${hostsOf(files).join(", ")}`;
  } catch (error) {
    return error.message;
  }
}

/** Copies the link that is shown. */
export async function copyLink() {
  await navigator.clipboard.writeText($("link").value);
  $("link-note").textContent = "Copied.";
}

/** Saves a project as a zip, as `mcpframe new` makes one. @param {import("./store.js").Project} project */
export async function download(project) {
  const parts = await (await fetch(new URL("export.json", document.baseURI))).json();
  const template = (await templates()).find(({ name }) => name === project.template);
  save(zipOf(exported({ ...project, files: checkFiles(project.files) }, parts, template)), `${project.name}.zip`);
}

/**
 * Opens the project of an address as a new one, which is only shown.
 * @param {import("./workspace.js").Workspace} workspace
 * @param {import("./importing.js").Importing} importing
 * @param {string} fragment the address's
 * @returns {Promise<boolean>} whether it names one
 */
export async function openLink(workspace, importing, fragment) {
  const link = await readLink(fragment);
  if (!link) return false;
  if ("from" in link) {
    await importing.from(link.from);
    return true;
  }
  const opened = "template" in link ? await fromTemplate(link.template) : newProject(link.name, link.files);
  const note =
    "template" in link ? "" : "This project is from a link. Read it before you run it: its code is somebody else's.";
  await workspace.open(opened, { isNew: true, note });
  return true;
}
