import { describe, expect, it } from "vitest";
import { BEAT_MS, createPulse, type Beating } from "../../../functions/gateway/pulse.ts";
import { fakeClock } from "../../fakes/clock.ts";

describe("the pulse", () => {
  it("beats for all members with one timer, and stands still without any", () => {
    const clock = fakeClock();
    const pulse = createPulse(clock);
    let beats = 0;
    const members = [1, 2].map(() => ({ beat: () => void beats++ }));
    for (const member of members) pulse.add(member);
    expect(clock.pending).toBe(1);
    clock.advance(3 * BEAT_MS);
    expect(beats).toBe(6);
    for (const member of members) pulse.remove(member);
    clock.advance(2 * BEAT_MS);
    expect(beats).toBe(6);
    expect(clock.pending).toBe(0);
  });

  it("leaves out whoever left, in whatever order they do", () => {
    const clock = fakeClock();
    const pulse = createPulse(clock);
    const seen: number[] = [];
    const members = [0, 1, 2, 3].map((id) => ({ beat: () => void seen.push(id) }));
    for (const member of members) pulse.add(member);
    const [first, second, third, last] = members;
    for (const member of [second, first, first]) if (member) pulse.remove(member);
    clock.advance(BEAT_MS);
    expect(seen.sort()).toEqual([2, 3]);
    for (const member of [last, third]) if (member) pulse.remove(member);
    expect(clock.pending).toBe(1);
    clock.advance(BEAT_MS);
    expect(seen).toHaveLength(2);
  });

  it("may lose members while it beats, and ends for good", () => {
    const clock = fakeClock();
    const pulse = createPulse(clock);
    const once: Beating = { beat: () => pulse.remove(once) };
    pulse.add(once);
    clock.advance(BEAT_MS);
    expect(clock.pending).toBe(0);
    pulse.close();
    pulse.add(once);
    expect(clock.pending).toBe(0);
  });
});
