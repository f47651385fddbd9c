import type { Clock, Ids } from "../ports/clock.ts";
import { sha256Of } from "../records/hash.ts";

const CODE_LIFETIME_MS = 60_000;
const SESSION_LIFETIME_MS = 24 * 60 * 60_000;

/** Browser sessions of this process: a one-time code is exchanged for a cookie. Gone when the process ends. */
export interface Sessions {
  createCode(): string;
  /** The cookie value, once; undefined for codes that are unknown, used or old. */
  exchange(code: string): string | undefined;
  isOpen(cookie: string): boolean;
}

export function createSessions(clock: Clock, ids: Ids): Sessions {
  const codes = new Map<string, number>();
  const sessions = new Map<string, number>();
  return {
    createCode() {
      dropOld(codes, clock.now());
      const code = ids.secret(16);
      codes.set(sha256Of(code), clock.now() + CODE_LIFETIME_MS);
      return code;
    },
    exchange(code) {
      const hash = sha256Of(code);
      const untilMs = codes.get(hash);
      codes.delete(hash);
      if (untilMs === undefined || untilMs <= clock.now()) return undefined;
      dropOld(sessions, clock.now());
      const cookie = ids.secret(24);
      sessions.set(sha256Of(cookie), clock.now() + SESSION_LIFETIME_MS);
      return cookie;
    },
    isOpen(cookie) {
      const untilMs = sessions.get(sha256Of(cookie));
      return untilMs !== undefined && untilMs > clock.now();
    },
  };
}

function dropOld(map: Map<string, number>, nowMs: number): void {
  for (const [key, untilMs] of map) if (untilMs <= nowMs) map.delete(key);
}
