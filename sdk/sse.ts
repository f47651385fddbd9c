/**
 * Reads a server-sent event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html) and
 * yields the data of each event. Comments, event names and ids are skipped: OpenAI-compatible chat streams
 * carry everything in `data`. Leaving the loop early cancels the body.
 *
 * @example
 * for await (const data of readSse(response.body)) console.log(JSON.parse(data));
 */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
      continue;
    }
    if (line === "data") data.push("");
    else if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
  }
  // The specification drops an event that no blank line ends: it may have been cut in the middle.
}

/** Lines ended by \n, \r\n or \r, wherever the chunks were cut; a last line without an end is dropped. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8");
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A \r at the very end may be half of a \r\n: it is kept until the next chunk tells.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest.endsWith("\r")) yield rest.slice(0, -1);
}
