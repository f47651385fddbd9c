import type { Blobs } from "../../functions/ports/blobs.ts";
import { sha256Of } from "../../functions/records/hash.ts";
import { SpotterError } from "../../sdk/schema/errors.ts";

/** Blobs that run anywhere, for tests of what is above them. There are no local files to import. */
export function memoryBlobs(): Blobs {
  const kept = new Map<string, Uint8Array>();
  const infoOf = (key: string, { byteLength }: Uint8Array) => ({ key, size: byteLength });
  return {
    async put(key, body, { sha256 } = {}) {
      const bytes = new Uint8Array(
        await new Response(body as ConstructorParameters<typeof Response>[0]).arrayBuffer(),
      );
      const hash = sha256Of(bytes);
      if (sha256 !== undefined && hash !== sha256) {
        throw new SpotterError("blob_corrupt", `The body of ${key} hashes to ${hash}, not to ${sha256}.`);
      }
      kept.set(key, bytes);
      return { ...infoOf(key, bytes), sha256: hash };
    },
    async get(key, { range } = {}) {
      const bytes = kept.get(key);
      if (!bytes) return undefined;
      const part = range ? bytes.slice(...range) : bytes;
      return new Response(part).body ?? undefined;
    },
    bytes: async (key) => kept.get(key)?.slice(),
    async head(key) {
      const bytes = kept.get(key);
      return bytes && infoOf(key, bytes);
    },
    list: async (prefix) =>
      [...kept]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, bytes]) => infoOf(key, bytes))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    delete: async (key) => void kept.delete(key),
    import: () => Promise.reject(new Error("There are no local files here.")),
    location: (key) => `memory:${key}`,
  };
}
