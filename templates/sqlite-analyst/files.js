// The browser's own file picker.

/**
 * Whether this page may open the browser's file picker (File System Access): frames of other origins may not, nor may
 * browsers without it; there the file field does the same.
 */
export function canPick() {
  if (!("showOpenFilePicker" in window)) return false;
  try {
    return Boolean(window.top.location.origin);
  } catch {
    return false;
  }
}

/** Let the user choose files. Returns an array of File, empty if they cancel. */
export async function pick() {
  try {
    const handles = await window.showOpenFilePicker({
      multiple: true,
      types: [
        {
          description: "Data files",
          accept: {
            "text/csv": [".csv", ".tsv", ".txt"],
            "application/json": [".json", ".jsonl", ".ndjson"],
            "application/vnd.sqlite3": [".db", ".db3", ".sqlite", ".sqlite3"],
          },
        },
      ],
    });
    return await Promise.all(handles.map((handle) => handle.getFile()));
  } catch (error) {
    if (error.name === "AbortError") return [];
    throw error;
  }
}
