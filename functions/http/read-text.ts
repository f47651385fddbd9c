/**
 * The text of an answer of a server that is not ours; above the limit it is given up, so that nobody outside fills our
 * memory.
 *
 * @returns undefined for one that is larger.
 */
export async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  // To leave the loop cancels the body.
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
