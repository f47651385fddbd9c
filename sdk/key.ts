import { pageOf } from "./schema/common.ts";
import {
  createdKey,
  keyRecord,
  type CreatedKey,
  type CreateKeyInput,
  type KeyRecord,
  type UpdateKeyInput,
} from "./schema/key.ts";
import { type CallOptions, clientOf } from "./client.ts";

export type CreateKeyParams = CreateKeyInput & CallOptions;
export type UpdateKeyParams = UpdateKeyInput & CallOptions;

/** Keys that let others in. */
export const Key = {
  /**
   * Makes a key. It is in this answer and nowhere else.
   *
   * @example
   * const { key } = await Key.create({
   *   name: "website",
   *   scope: "chat",
   *   endpoints: ["haiku"],
   *   limits: { requestsPerMinute: 60, tokensPerMonth: 5_000_000 },
   * });
   */
  create(params: CreateKeyParams): Promise<CreatedKey> {
    const { client: _client, signal, ...json } = params;
    // Repeated, it would make a second key that nobody knows of.
    const request = { json, signal, retry: "unsent" } as const;
    return clientOf(params).request(createdKey, "POST", "/keys", request);
  },

  /**
   * Changes limits and endpoints within two seconds. What is absent stays; null takes a limit away.
   *
   * @throws SpotterError `not_found`
   * @example
   * const [key] = await Key.list();
   * if (key) await Key.update(key.id, { limits: { requestsPerMinute: 120, tokensPerMonth: null } });
   */
  update(id: string, params: UpdateKeyParams): Promise<KeyRecord> {
    const { client: _client, signal, ...json } = params;
    return clientOf(params).request(keyRecord, "PATCH", `/keys/${encodeURIComponent(id)}`, { json, signal });
  },

  /** All keys with what they used this month, revoked ones included; never the secrets themselves. */
  async list(options: CallOptions = {}): Promise<KeyRecord[]> {
    const request = { query: { limit: 1_000 }, signal: options.signal };
    return (await clientOf(options).request(pageOf(keyRecord), "GET", "/keys", request)).items;
  },

  /** Takes effect within two seconds. */
  revoke(id: string, options: CallOptions = {}): Promise<void> {
    const path = `/keys/${encodeURIComponent(id)}`;
    return clientOf(options).command("DELETE", path, { signal: options.signal });
  },
};
