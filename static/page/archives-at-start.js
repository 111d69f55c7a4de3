/**
 * Returns the archives that a start fetches. `which`: "none", that of the "server", the server's "own", which also has its
 * requirements, or "all".
 */
export function archivesAtStart({ archives, server_path }, which) {
  const needed = {
    none: () => false,
    server: ({ to }) => to === server_path,
    own: ({ own }) => own,
    all: () => true,
  };
  return archives.filter(needed[which]);
}
