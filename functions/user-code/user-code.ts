import { SpotterError } from "../../sdk/schema/errors.ts";
import type { UserCodeRecord } from "../../sdk/schema/user-code.ts";
import { isKept, otherHash } from "../records/content.ts";
import { sha256Of } from "../records/hash.ts";
import { getUserCode, userCodeBlob, userCodeKey, type UserCodeDeps } from "./records.ts";

/** Takes in a bundle: checks the hash, loads it once in an isolate, and keeps it. What is known is kept as it is. */
export async function putUserCode(
  deps: UserCodeDeps,
  sha256: string,
  code: Uint8Array,
  name: string,
): Promise<UserCodeRecord> {
  if (sha256Of(code) !== sha256) throw otherHash(sha256);
  const known = await deps.store.get<UserCodeRecord>(userCodeKey(sha256));
  if (known && (await isKept(deps.blobs, userCodeBlob(sha256), sha256))) return known.value;
  // Without any grant: loading must not need a secret.
  const handle = await deps.isolates.load({ sha256, code, secrets: {} });
  await deps.blobs.put(userCodeBlob(sha256), code, { sha256 });
  const record: UserCodeRecord = {
    v: 1,
    sha256,
    name,
    exports: handle.exports,
    ...(handle.others && { others: handle.others }),
    bytes: code.byteLength,
    createdAtMs: deps.clock.now(),
  };
  await deps.store.put(userCodeKey(sha256), record);
  return record;
}

/** The code itself. */
export async function userCodeBytes(deps: UserCodeDeps, sha256: string): Promise<Uint8Array> {
  const { name } = await getUserCode(deps, sha256);
  const code = await deps.blobs.bytes(userCodeBlob(sha256));
  if (code && sha256Of(code) === sha256) return code;
  if (code) {
    throw new SpotterError("blob_corrupt", `The bundle of ${name} (${sha256}) is damaged.`, {
      where: deps.blobs.location(userCodeBlob(sha256)),
      hint: "Launch it again: the SDK sends what is damaged anew.",
    });
  }
  throw new SpotterError("not_found", `The bundle of ${name} (${sha256}) is gone.`, {
    hint: "Upload it again with PUT /user-code/:sha256.",
  });
}
