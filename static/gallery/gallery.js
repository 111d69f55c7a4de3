// The page of a gallery works without this script, but for the addresses, which it only knows where it is published.

const absolute = (path) => new URL(path, document.baseURI).href;

/** @returns {NodeListOf<any>} */
const all = (selector) => document.querySelectorAll(selector);

for (const details of all("details[data-address]")) {
  for (const code of details.querySelectorAll("code")) {
    code.textContent = code.textContent.replaceAll("{address}", absolute(details.dataset.address));
    code.parentElement.append(copier(code));
  }
}

for (const link of all("a[data-add]")) {
  link.hash = new URLSearchParams({ add: absolute(link.dataset.add) }).toString();
}

const filter = /** @type {HTMLInputElement | null} */ (document.getElementById("filter"));
if (filter) {
  filter.hidden = false;
  filter.addEventListener("input", find);
  find();
}

/** Returns a button that copies a text. */
function copier(code) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(code); // no permission: the user can copy it
    }
  });
  return button;
}

/** Shows the servers that have each of the words. */
function find() {
  const words = filter.value.toLowerCase().split(/\s+/);
  const articles = [...all("article")];
  for (const article of articles) {
    const text = article.textContent.toLowerCase();
    article.hidden = !words.every((word) => text.includes(word));
  }
  const shown = articles.filter((article) => !article.hidden).length;
  document.getElementById("found").textContent = filter.value ? `${shown} of ${articles.length}` : "";
}
