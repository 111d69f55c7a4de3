"""The storage of an origin's pages, read and damaged as the browser's developer tools would."""

_READ = """async () => {
    const opening = indexedDB.open("mcpframe", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("values");
    const settled = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const database = await settled(opening);
    try {
        return await settled(database.transaction("values").objectStore("values").METHOD());
    } finally {
        database.close();
    }
}"""
STORED = _READ.replace("METHOD", "getAllKeys")
"""A function for a page or a frame: the session id and the key of every value."""
STORED_VALUES = _READ.replace("METHOD", "getAll")
"""A function for a page or a frame: every value."""
BLOCK_DELETION = """() => new Promise((resolve) => {
    const opening = indexedDB.open("mcpframe", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("values");
    opening.onsuccess = () => {
        window.connection = opening.result;
        indexedDB.deleteDatabase("mcpframe").onblocked = resolve;
    };
})"""
"""Has the database's deletion wait for `connection` to be closed; all that opens the database then waits behind it."""
WITHOUT_STORE = """() => new Promise((resolve) => {
    indexedDB.deleteDatabase("mcpframe");
    indexedDB.open("mcpframe", 1).onsuccess = ({ target }) => resolve(target.result.close());
})"""
"""Makes the database without its store, as earlier versions could leave it."""
