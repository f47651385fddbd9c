/**
 * Whether something was within the last `ms`. What seems to lie ahead was before the clock was set back: how long ago
 * nobody knows, so it is not recent.
 */
export function isRecent(atMs: number, nowMs: number, ms: number): boolean {
  const ageMs = nowMs - atMs;
  return ageMs >= 0 && ageMs < ms;
}
