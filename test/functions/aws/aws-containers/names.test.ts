import { describe, expect, it } from "vitest";
import {
  checkJobId,
  clientToken,
  platformName,
  startedFor,
  tagsOf,
} from "../../../../functions/aws/aws-containers/names.ts";

describe("names on the platform", () => {
  it("are the same each time and fit both services", () => {
    for (const jobId of ["train-run-1-a1", "a.b:c@d", "x".repeat(151)]) {
      const name = platformName("stack", jobId);
      expect(name).toBe(platformName("stack", jobId));
      expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/);
    }
  });

  it("keep ids, and stacks, apart that would be spelled alike", () => {
    const names = [
      platformName("stack", "a.b"),
      platformName("stack", "a_b"),
      platformName("stack", "a:b"),
      platformName("other", "a.b"),
    ];
    expect(new Set(names).size).toBe(4);
  });

  it("have a client token that holds for minutes, not for ever", () => {
    const at = (nowMs: number) => clientToken("stack", "train-run-1-a1", nowMs);
    expect(at(0)).toBe(at(60_000));
    expect(at(0)).not.toBe(at(3_600_000));
    expect(at(0)).toMatch(/^[\x21-\x7e]{1,64}$/);
  });

  it("tell by tags whose something is", () => {
    const job = { jobId: "convert-1-c-model-a1", kind: "convert", maxLifetimeMs: 5 } as const;
    const tags = tagsOf("stack", job);
    expect(startedFor("stack", tags)).toEqual(job);
    expect(startedFor("another", tags)).toBeUndefined();
    expect(startedFor("stack", {})).toBeUndefined();
  });

  it.each(["", "../up", "a/b", ".hidden", "a b", "x".repeat(152)])("refuse the id %j", (jobId) => {
    expect(() => checkJobId(jobId)).toThrow(expect.objectContaining({ code: "invalid_input" }) as Error);
  });
});
