import { SpotterError } from "../../sdk/schema/errors.ts";
import type { UserCodeRecord } from "../../sdk/schema/user-code.ts";
import type { Deps } from "../deps.ts";
import type { DocumentKey } from "../ports/store.ts";

/** The ports that user code needs. */
export type UserCodeDeps = Pick<Deps, "store" | "blobs" | "isolates" | "secrets" | "clock">;

export function userCodeBlob(sha256: string): string {
  return `user-code/${sha256}`;
}

export function userCodeKey(sha256: string): DocumentKey {
  return { partition: "user-code", sort: sha256 };
}

/** The record of stored code; `not_found` without one. */
export async function getUserCode(deps: Pick<Deps, "store">, sha256: string): Promise<UserCodeRecord> {
  const document = await deps.store.get<UserCodeRecord>(userCodeKey(sha256));
  if (document) return document.value;
  throw new SpotterError("not_found", `There is no user code ${sha256}.`, {
    hint: "Upload it first with PUT /user-code/:sha256.",
  });
}
