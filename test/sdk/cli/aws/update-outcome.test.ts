import { describe, expect, it } from "vitest";
import { outcomeError, outcomeOf } from "../../../../sdk/cli/aws/update-outcome.ts";

const LOCKED = "error: the stack is currently locked by 1 lock(s). Either wait or `pulumi cancel`.";
const CONFLICT = "error: [409] Conflict: Another update is currently in progress.";
const PENDING = "error: the current deployment has 2 resource(s) with pending operations";

describe("the end of an update", () => {
  it("is read from its code and Pulumi's words", () => {
    const of = (code: number | null, stderr = "") => outcomeOf({ code, stdout: "", stderr });
    expect([
      of(0),
      of(0, LOCKED),
      of(255, LOCKED),
      of(255, CONFLICT),
      of(1, PENDING),
      of(1),
      of(null),
    ]).toEqual([...["done", "done", "locked", "locked", "pending", "failed", "failed"]]);
  });

  it("says what to do: wait or recover, recover, or correct what is named", () => {
    const finished = { code: 255, stdout: "", stderr: "one\ntwo\nerror: bucket exists\n" };
    const hints = (["locked", "pending", "failed"] as const).map((each) => {
      const { code, hint = "", message } = outcomeError(each, "The update", finished);
      return [code, hint.includes("spotter deploy --recover"), message.includes("bucket exists")];
    });
    expect(hints).toEqual([
      ["deploy_failed", true, false],
      ["deploy_failed", true, false],
      ["deploy_failed", false, true],
    ]);
    // On a terminal its words are above already, and may have been a question that was answered with no.
    const declined = outcomeError("failed", "The update", { code: 255, stdout: "", stderr: "" });
    expect([declined.message, declined.hint]).toEqual([
      "The update was not made; Pulumi says why above.",
      expect.stringMatching(/^After a no nothing has changed\./),
    ]);
  });
});
