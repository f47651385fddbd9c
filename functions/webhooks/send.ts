import { createHmac } from "node:crypto";
import type { Delivery } from "../runs/records.ts";

const TIMEOUT_MS = 10_000;

/** Posts one delivery. Resolves to why it did not arrive, or undefined if it did. */
export type Send = (
  delivery: Delivery,
  secret: string | undefined,
  atMs: number,
) => Promise<string | undefined>;

/** Any answer of 2xx counts as received. A redirect does not: who signs must know whom for. */
export const sendOverHttp: Send = async (delivery, secret, atMs) => {
  try {
    const response = await fetch(delivery.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "spotter",
        "spotter-event": delivery.event,
        "spotter-delivery": delivery.id,
        ...(secret !== undefined && { "spotter-signature": signatureOf(delivery.body, secret, atMs) }),
      },
      body: delivery.body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `answered ${response.status}`;
  } catch (error) {
    if (!(error instanceof Error)) return String(error);
    return error.cause instanceof Error ? error.cause.message : error.message;
  }
};

/** `t=<ms>,v1=<hex>`: HMAC-SHA256 over `<ms>.<body>`, so that an old delivery cannot be sent again as a new one. */
export function signatureOf(body: string, secret: string, atMs: number): string {
  return `t=${atMs},v1=${createHmac("sha256", secret).update(`${atMs}.${body}`).digest("hex")}`;
}
