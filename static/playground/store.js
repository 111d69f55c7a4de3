// Projects and their versions in the browser's database. A tab that edits a project holds its lock; another tab gets it
// read only. A deleted project stays for a while, so that this can be undone.
import { ProjectError } from "./project-files.js";
import { changedFiles, sizeOf, surplus } from "./versions.js";

const DATABASE = "mcpframe-playground";
const PROJECTS = "projects";
const VERSIONS = "versions";
const MOST_DELETED = 10;
const DELETED_FOR = 30 * 24 * 3600 * 1000; // milliseconds

/** @typedef {import("./versions.js").Content} Content */
/** @typedef {import("./versions.js").Version} Version */
/**
 * @typedef {object} Project
 * @property {string} id
 * @property {string} name
 * @property {Record<string, Content>} files
 * @property {number} changed milliseconds since 1970
 * @property {string} [template] the template it was made of
 * @property {number} [deleted] when it was deleted
 */

/** @type {Promise<IDBDatabase>} */
let opening = null;
/** @type {IDBDatabase} */
let connection = null; // stays open, so that a page that is left can still store something

function opened() {
  opening ??= connect().catch((error) => {
    opening = null;
    throw error;
  });
  return opening;
}

function forget() {
  opening = connection = null;
}

/** @returns {Promise<IDBDatabase>} */
function connect() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 2);
    request.onupgradeneeded = () => {
      const { result } = request;
      if (!result.objectStoreNames.contains(PROJECTS)) result.createObjectStore(PROJECTS, { keyPath: "id" });
      result.createObjectStore(VERSIONS, { keyPath: "key", autoIncrement: true }).createIndex("project", "project");
    };
    request.onsuccess = () => {
      connection = request.result;
      connection.onversionchange = () => {
        connection?.close(); // a later version of this page, in another tab, may change it
        forget();
      };
      connection.onclose = forget; // the browser's doing
      resolve(connection);
    };
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("Another tab keeps the projects of an earlier version open: close it."));
  });
}

/** Returns what the request of `act` gives once all of its transaction is stored. */
async function within(store, mode, act) {
  const database = await opened();
  try {
    const transaction = database.transaction(store, mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const request = act(transaction.objectStore(store));
    await done;
    return request.result;
  } catch (error) {
    if (error?.name !== "QuotaExceededError") throw error;
    throw new ProjectError(
      "The browser's storage is full: download the project, then delete others or free some space.",
    );
  }
}

/** Returns all projects that are not deleted, the one that was changed last first. @returns {Promise<Project[]>} */
export async function allProjects() {
  const all = await within(PROJECTS, "readonly", (store) => store.getAll());
  return all.filter((each) => !each.deleted).sort((one, other) => other.changed - one.changed);
}

/** Returns the deleted projects, the latest first; those that are too old or too many are removed. */
export async function deletedProjects() {
  const all = await within(PROJECTS, "readonly", (store) => store.getAll());
  const deleted = all.filter((each) => each.deleted).sort((one, other) => other.deleted - one.deleted);
  const isKept = (each, at) => at < MOST_DELETED && each.deleted > Date.now() - DELETED_FOR;
  for (const { id } of deleted.filter((each, at) => !isKept(each, at))) {
    await within(PROJECTS, "readwrite", (store) => store.delete(id));
    await removeVersions(await versionsOf(id));
  }
  return deleted.filter(isKept);
}

/** Returns a project as it is stored. @param {string} id @returns {Promise<Project | undefined>} */
export const loadProject = (id) => within(PROJECTS, "readonly", (store) => store.get(id));

/** Stores a project. @param {Project} project */
export const saveProject = (project) => within(PROJECTS, "readwrite", (store) => store.put(project));

/**
 * Stores a project of a page that is being left, in which nothing can be waited for.
 * @param {Project} project
 */
export function saveAtOnce(project) {
  const transaction = connection?.transaction(PROJECTS, "readwrite");
  transaction?.objectStore(PROJECTS).put(project);
  transaction?.commit();
}

/** Returns the versions of a project, the oldest first. @param {string} id @returns {Promise<Version[]>} */
export const versionsOf = (id) => within(VERSIONS, "readonly", (store) => store.index("project").getAll(id));

async function removeVersions(versions) {
  for (const { key } of versions) await within(VERSIONS, "readwrite", (store) => store.delete(key));
}

/**
 * Keeps a version of a project, unless the last one is equal.
 * @param {Project} project
 * @param {string} reason
 */
export async function keepVersion({ id, files }, reason) {
  const versions = await versionsOf(id);
  const last = versions.at(-1);
  if (last && !changedFiles(last.files, files).length) return;
  const version = { project: id, date: Date.now(), reason, bytes: sizeOf(files), files };
  await within(VERSIONS, "readwrite", (store) => store.add(version));
  await removeVersions(surplus([...versions, version]));
}

const lockOf = (id) => `${DATABASE} ${id}`;

/**
 * Takes the lock of a project, if no other tab has it.
 * @param {string} id
 * @returns {Promise<(() => Promise<void>) | null>} releases the lock; null if another tab has it
 */
export function lockProject(id) {
  return new Promise((resolve, reject) => {
    const hold = (lock) => {
      if (!lock) return resolve(null);
      return new Promise((release) => {
        resolve(() => {
          release(undefined);
          return held;
        });
      });
    };
    const held = navigator.locks.request(lockOf(id), { ifAvailable: true }, hold);
    held.catch(reject);
  });
}

/** Waits until no tab has the lock of a project. @param {string} id @param {AbortSignal} signal */
export const unlocked = (id, signal) => navigator.locks.request(lockOf(id), { signal }, () => {});
