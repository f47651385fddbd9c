import { Fault } from "./fault.ts";

interface Paging {
  maxResults: number | undefined;
  nextToken: string | undefined;
  /** The service's largest page, and its page when nothing is asked for. */
  most: number;
  /** Of the error for a wrong size or token. */
  code: string;
}

/** One page of a list. The token is the position, opaque to a well-behaved caller. */
export function page<T>(
  all: T[],
  { maxResults, nextToken, most, code }: Paging,
): { items: T[]; next?: string } {
  if (maxResults !== undefined && (maxResults < 1 || maxResults > most)) {
    throw new Fault(code, `maxResults must be between 1 and ${most}.`);
  }
  const from = nextToken === undefined ? 0 : Number(Buffer.from(nextToken, "base64url").toString());
  if (!Number.isInteger(from)) throw new Fault(code, "Invalid token.");
  const to = from + (maxResults ?? most);
  return {
    items: all.slice(from, to),
    next: to < all.length ? Buffer.from(String(to)).toString("base64url") : undefined,
  };
}
