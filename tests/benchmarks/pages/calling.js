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

/** When the last message came, before anybody has read it. */
let heard = 0;
addEventListener("message", () => (heard = performance.now()), true);

/**
 * Call `echo` so often, one call after another, and return what each took on average outside of the page: from the call
 * until it is posted, from there until its answer has come, and from there until the caller has it.
 */
export async function traceEcho(client, count, length) {
  const { transport } = client;
  const { send } = transport;
  let posted = 0;
  transport.send = (message) => {
    const sending = send.call(transport, message);
    posted = performance.now();
    return sending;
  };
  const sum = { sends: 0, away: 0, reads: 0 };
  for (let call = 0; call < count; call++) {
    const text = textOf(length);
    const called = performance.now();
    await client.callTool({ name: "echo", arguments: { text } });
    sum.reads += performance.now() - heard;
    sum.away += heard - posted;
    sum.sends += posted - called;
  }
  transport.send = send;
  return { sends: sum.sends / count, away: sum.away / count, reads: sum.reads / count };
}
