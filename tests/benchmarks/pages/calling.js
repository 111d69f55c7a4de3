/** Round trips of the tool `echo`, with any client that has `callTool`. */

async function echo(client, text) {
  const sent = performance.now();
  const answer = await client.callTool({ name: "echo", arguments: { text } });
  const received = performance.now();
  if (answer.isError || answer.content.length !== 1 || answer.content[0].text !== text) {
    throw new Error(`echo gave a wrong answer: ${JSON.stringify(answer).slice(0, 300)}`);
  }
  return received - sent;
}

/** A text of so many ASCII characters, like a document: words, line ends, quotes. No two are equal. */
let made = 0;
export function textOf(length) {
  const line = `"${++made}": the quick brown fox jumps over the lazy dog, again and again.\n`;
  return line.repeat(Math.ceil(length / line.length)).slice(0, length);
}

/** Calls `echo` so often with texts of so many characters, so many calls at a time. */
export async function callEcho(client, count, length, inFlight) {
  const samples = [];
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const text = textOf(length);
      samples.push(await echo(client, text));
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { samples, total: performance.now() - began };
}
