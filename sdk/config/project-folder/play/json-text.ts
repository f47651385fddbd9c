/** A text as JSON; undefined where it is none. */
export function jsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
