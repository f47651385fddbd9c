import { describe, expect, it } from "vitest";
import { notStartedReason, tellsOfBrokenGpu } from "../../../../functions/aws/aws-containers/reasons.ts";

describe("the words of AWS", () => {
  it.each([
    ["You've reached the limit on the number of vCPUs you can run concurrently", "quota"],
    [
      "VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 0 allows",
      "quota",
    ],
    ["MaxSpotInstanceCountExceeded: Max spot instance count exceeded", "quota"],
    ["InsufficientInstanceCapacity: We currently do not have sufficient g6.xlarge capacity", "capacity"],
    ["RESOURCE:GPU", "capacity"],
    ["Essential container in task exited", undefined],
  ])("%s", (words, reason) => {
    expect(notStartedReason(words)).toBe(reason);
  });

  it.each([
    ["NVRM: Xid (PCI:0000:00:1e): 79, GPU has fallen off the bus.", true],
    ["CUDA error: uncorrectable ECC error encountered", true],
    // A mistake of the program, on a GPU that is well.
    ["RuntimeError: CUDA error: device-side assert triggered", false],
    ["NVRM: Xid (PCI:0000:00:1e): 31, pid=1, name=python, MMU Fault", false],
    ["NVRM: Xid (PCI:0000:00:1e): 48, pid=1, Double Bit ECC Error", true],
    ["CUDA out of memory", false],
  ])("tell of a broken GPU: %s", (line, isBroken) => {
    expect(tellsOfBrokenGpu(["before", line])).toBe(isBroken);
  });
});
