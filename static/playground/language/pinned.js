// The large files of the code help and the formatter, which the site's build pins by their hashes in `files.json`.

/**
 * Fetches one. Rejected if it is missing or is another file.
 * @param {"worker" | "stubs" | "formatter"} kind
 */
export async function pinnedFile(kind) {
  const listed = await fetched("files.json");
  const { path, integrity } = (await listed.json())[kind];
  return fetched(path, { integrity });
}

async function fetched(path, options = {}) {
  const response = await fetch(new URL(`language/${path}`, document.baseURI), options);
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return response;
}
