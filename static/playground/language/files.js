// What the type checker sees of a project: its Python files below /src, beside the stubs that the site's build has made.

const ROOT = "/src";
export const ROOT_URI = `file://${ROOT}`;

const CONFIG = {
  pythonVersion: "3.14",
  pythonPlatform: "All",
  typeCheckingMode: "standard",
  typeshedPath: "/typeshed", // without it not even `int` is defined
  extraPaths: ["/stubs"],
  // A package without stubs here may be there when the server runs.
  reportMissingImports: "warning",
  reportMissingModuleSource: false,
};

/** Returns whether the type checker reads a file. @param {string} path */
export const isPython = (path) => /\.pyi?$/.test(path);

/** Returns a file's address for the type checker. @param {string} path */
export const uriOf = (path) => `${ROOT_URI}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** Returns the path of a file in the project; "" for an address of another file. @param {string} uri */
export function pathOf(uri) {
  const start = `${ROOT_URI}/`;
  try {
    return uri.startsWith(start) ? decodeURIComponent(uri.slice(start.length)) : "";
  } catch {
    return "";
  }
}

/**
 * Returns the files that the type checker starts with, by path in its file system.
 * @param {Record<string, unknown>} project contents by path
 * @param {Record<string, string>} stubs texts by path
 */
export function startFiles(project, stubs) {
  const files = { ...stubs, [`${ROOT}/pyrightconfig.json`]: JSON.stringify(CONFIG) };
  for (const [path, text] of pythonTexts(project)) files[`${ROOT}/${path}`] = text;
  return files;
}

/**
 * Returns the paths and texts of a project's Python files.
 * @param {Record<string, unknown>} project contents by path
 * @returns {[string, string][]}
 */
export const pythonTexts = (project) =>
  /** @type {any} */ (Object.entries(project).filter(([path, text]) => isPython(path) && typeof text === "string"));

/**
 * Returns HTML that has text and line breaks only. The documentation of names is a link's code, too.
 * @param {string} html
 */
export const onlyText = (html) => html.replace(/<(?!br>)/g, "&lt;");
