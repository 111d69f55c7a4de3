// The dialog with the versions of the project that is open. Restoring one keeps the present texts as a version first.
import { visible } from "../host/visible.js";
import { $, element, guarded, notice } from "./page.js";
import { versionsOf } from "./store.js";
import { changedFiles } from "./versions.js";

const NAMED_FILES = 5;
const DATES = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Shows the versions of a project, the newest first. @param {import("./workspace.js").Workspace} workspace */
export async function showHistory(workspace) {
  await workspace.flush();
  const { project, readOnly } = workspace;
  const versions = await versionsOf(project.id);
  const items = versions.map((version, at) => {
    const restore = element("button", { type: "button", textContent: "Restore", disabled: readOnly });
    restore.addEventListener(
      "click",
      guarded(async () => {
        $("history-dialog").close();
        if (workspace.project !== project) return;
        await workspace.replace({ ...version.files }, "Before a version was restored");
        notice(`The version of ${DATES.format(version.date)} is restored. History has the one before.`);
      }),
    );
    const date = element("strong", { textContent: DATES.format(version.date) });
    const changed = element("span", { className: "quiet", textContent: describe(version, versions[at - 1]) });
    return element("li", {}, element("div", {}, date, ` ${version.reason}`, element("br"), changed), restore);
  });
  $("versions").replaceChildren(...items.reverse());
  $("no-versions").hidden = items.length > 0;
  $("history-dialog").showModal();
}

/** Returns which files differ from the version before. */
function describe({ files }, before) {
  const changed = changedFiles(before?.files ?? {}, files).map(visible);
  const named = changed.slice(0, NAMED_FILES).join(", ");
  return changed.length > NAMED_FILES ? `${named} and ${changed.length - NAMED_FILES} more` : named;
}
