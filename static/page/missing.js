/**
 * What a page says of a file that the web server does not have, and how to go on: for visitors, whose page may be older
 * than the site, and for its author.
 * @param {string} url
 * @param {number} status
 */
export const missing = (url, status) =>
  `${url} is missing (the web server answers ${status}): reload the page if its site was published anew meanwhile; else ` +
  "upload the whole folder that was built.";
