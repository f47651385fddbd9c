import { SpotterError } from "../../sdk/schema/errors.ts";
import { parseWith } from "../../sdk/schema/parse.ts";
import { pythonBundle, type CodeLanguage, type UserCodeRecord } from "../../sdk/schema/user-code.ts";
import { isKept, otherHash } from "../records/content.ts";
import { sha256Of } from "../records/hash.ts";
import { getUserCode, userCodeBlob, userCodeKey, type UserCodeDeps } from "./records.ts";

/** Takes in a bundle: checks the hash, loads it once in an isolate, and keeps it. What is known is kept as it is. */
export async function putUserCode(
  deps: UserCodeDeps,
  sha256: string,
  code: Uint8Array,
  name: string,
  language: CodeLanguage = "typescript",
): Promise<UserCodeRecord> {
  if (sha256Of(code) !== sha256) throw otherHash(sha256);
  const known = await deps.store.get<UserCodeRecord>(userCodeKey(sha256));
  if (known && (await isKept(deps.blobs, userCodeBlob(sha256), sha256))) return known.value;
  const found = language === "python" ? pythonRecord(code) : await loadedRecord(deps, sha256, code);
  await deps.blobs.put(userCodeBlob(sha256), code, { sha256 });
  const record: UserCodeRecord = {
    v: 1,
    sha256,
    name,
    ...found,
    bytes: code.byteLength,
    createdAtMs: deps.clock.now(),
  };
  await deps.store.put(userCodeKey(sha256), record);
  return record;
}

type Found = Pick<UserCodeRecord, "exports" | "others" | "language">;

async function loadedRecord(deps: UserCodeDeps, sha256: string, code: Uint8Array): Promise<Found> {
  // Without any grant: loading must not need a secret.
  const { exports, others } = await deps.isolates.load({ sha256, code, secrets: {} });
  return { exports, ...(others && { others }) };
}

/** Only its form is looked at: Python runs in the containers of runs that allow it, never here. */
function pythonRecord(code: Uint8Array): Found {
  parseWith(pythonBundle, parseJson(code), "The bundle of Python");
  return { exports: [], language: "python" };
}

function parseJson(code: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(code));
  } catch (cause) {
    throw new SpotterError("user_code_invalid", "The bundle of Python is not JSON.", {
      hint: "Send { v: 1, files: { [path]: source } }.",
      cause,
    });
  }
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
