// Fetches a file of the bundle synchronously, while Python waits for it in the middle of an import or a call.
import { missing } from "./missing.js";
import { sha256 } from "./sha256.js";
import { given } from "./surroundings.js";

/**
 * Returns the file's bytes, with their hash checked. If that fails, an error says why, also in the console.
 * @param {string} url
 * @param {{ integrity: string }} file
 */
export function fetchNow(url, file) {
  const tellPage = (text) => given?.kind === "server" && postMessage(`["${text}"]\n`); // see mcpframe.frame.worker.port
  tellPage("fetches"); // or it would take the worker for one that computes
  try {
    return read(url, file);
  } finally {
    tellPage("fetched");
  }
}

function read(url, file) {
  const request = new XMLHttpRequest();
  let problem = `${url} could not be fetched: check the network.`;
  try {
    request.open("GET", url, false);
    request.overrideMimeType("text/plain; charset=x-user-defined"); // the only way to get bytes from a synchronous request
    request.send();
    if (request.status === 200) {
      const text = request.responseText;
      const data = new Uint8Array(text.length);
      for (let at = 0; at < text.length; at += 1) data[at] = text.charCodeAt(at);
      if (`sha256-${btoa(String.fromCharCode(...sha256(data)))}` === file.integrity) return data;
      problem = `${url} is not the file that was built (its hash is wrong): upload the whole folder again.`;
    } else {
      problem = missing(url, request.status);
    }
  } catch (error) {
    console.error(error);
  }
  console.error(problem);
  throw new Error(problem);
}
