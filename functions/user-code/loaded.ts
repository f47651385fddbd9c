import type { UserCodeRef } from "../../sdk/schema/run-spec.ts";
import type { IsolateHandle, Isolates } from "../ports/isolates.ts";
import { sha256Of } from "../records/hash.ts";
import { userCodeBytes } from "./user-code.ts";
import type { UserCodeDeps } from "./records.ts";

/** Bundles of several megabytes are kept in memory while in use; the least recently used goes first. */
const MAX_LOADED = 16;

const loadedBy = new WeakMap<Isolates, Map<string, Promise<IsolateHandle>>>();

/**
 * The isolate of stored code with its granted secrets. Secrets are resolved at each call, so that a changed
 * value counts from the next batch on; the bundle is read once.
 */
export async function loadedIsolate(deps: UserCodeDeps, code: UserCodeRef): Promise<IsolateHandle> {
  const secrets = code.secrets.length > 0 ? await deps.secrets.resolve(code.secrets) : {};
  const key = `${code.sha256} ${sha256Of(JSON.stringify(Object.entries(secrets).sort()))}`;
  const loaded = loadedBy.get(deps.isolates) ?? new Map<string, Promise<IsolateHandle>>();
  loadedBy.set(deps.isolates, loaded);
  const handle = loaded.get(key) ?? load(deps, code.sha256, secrets);
  // Put in again at the end: the order of the map is the order of use.
  loaded.delete(key);
  loaded.set(key, handle);
  handle.catch(() => loaded.delete(key));
  const [oldest] = loaded.keys();
  if (loaded.size > MAX_LOADED && oldest !== undefined) loaded.delete(oldest);
  return handle;
}

async function load(
  deps: UserCodeDeps,
  sha256: string,
  secrets: Record<string, string>,
): Promise<IsolateHandle> {
  return deps.isolates.load({ sha256, code: await userCodeBytes(deps, sha256), secrets });
}
