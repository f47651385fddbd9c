/** An answer that is not what was asked for, in words for people. */
export class ApiError extends Error {}

export async function getJson<T>(path: string): Promise<T> {
  return read<T>(await fetch(path, { headers: { accept: "application/json" } }));
}

/** Posts to one of the pages' own routes; the browser adds the cookie and says where the request comes from. */
export async function post<T>(path: string, body?: unknown): Promise<T> {
  const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return read<T>(await fetch(path, { method: "POST", ...(body !== undefined && json) }));
}

/** What an error body says, whichever of the two shapes it has. */
export async function problemOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: { message?: string; hint?: string } };
    const words = [error?.message, error?.hint].filter((each) => each !== undefined);
    if (words.length > 0) return words.join(" ");
  } catch {
    // Not JSON: the status has to do.
  }
  return `The answer was ${response.status} ${response.statusText}.`;
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return "Spotter does not answer. Is it running? Start it with `npx spotter up`.";
}

async function read<T>(response: Response): Promise<T> {
  if (!response.ok) throw new ApiError(await problemOf(response));
  return (await response.json()) as T;
}
