import { describe, expect, it } from "vitest";
import { failedActivity } from "../../../../functions/aws/ecs-containers/scaling-activities.ts";

const activity = (
  atMs: number,
  StatusCode: "Successful" | "Failed" | "InProgress",
  StatusMessage?: string,
) => ({
  ActivityId: String(atMs),
  AutoScalingGroupName: "gpu",
  Cause: "",
  StartTime: new Date(atMs),
  StatusCode,
  StatusMessage,
});

describe("why no instance comes", () => {
  it("is what the last failed attempt said", () => {
    const all = [
      activity(10, "Failed", "older"),
      activity(20, "Failed", "newer"),
      activity(30, "InProgress"),
    ];
    expect(failedActivity(all, 0)).toBe("newer");
  });
  it("is nothing once one came, or of before", () => {
    expect(failedActivity([activity(10, "Failed", "older"), activity(20, "Successful")], 0)).toBeUndefined();
    expect(failedActivity([activity(10, "Failed", "older")], 11)).toBeUndefined();
    expect(failedActivity([], 0)).toBeUndefined();
  });
});
