// Projects in the browser's database. A tab that edits a project holds its lock; another tab gets it read only.

const DATABASE = "mcpframe-playground";
const STORE = "projects";

/** @typedef {{ id: string, name: string, files: Record<string, string>, changed: number }} Project */

function opened() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("Another tab keeps the projects of an earlier version open: close it."));
  });
}

async function within(mode, act) {
  const database = await opened();
  try {
    const transaction = database.transaction(STORE, mode);
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    const request = act(transaction.objectStore(STORE));
    await done;
    return request.result;
  } finally {
    database.close();
  }
}

/** Returns all projects, the one that was changed last first. @returns {Promise<Project[]>} */
export async function allProjects() {
  const all = await within("readonly", (store) => store.getAll());
  return all.sort((one, other) => other.changed - one.changed);
}

/** Stores a project. @param {Project} project */
export const saveProject = (project) => within("readwrite", (store) => store.put(project));

/** Deletes a project. @param {string} id */
export const deleteProject = (id) => within("readwrite", (store) => store.delete(id));

/**
 * Takes the lock of a project, if no other tab has it.
 * @param {string} id
 * @returns {Promise<(() => void) | null>} releases the lock; null if another tab has it
 */
export function lockProject(id) {
  return new Promise((resolve, reject) => {
    const hold = (lock) => {
      if (!lock) return resolve(null);
      return new Promise((release) => resolve(() => release()));
    };
    navigator.locks.request(`${DATABASE} ${id}`, { ifAvailable: true }, hold).catch(reject);
  });
}
