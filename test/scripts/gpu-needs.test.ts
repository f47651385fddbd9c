import { chmodSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { needsOf } from "../gpu/needs.ts";
import { useFolder } from "../functions/local/use-folder.ts";

const folder = useFolder();
const GPU = ["GPU 0: NVIDIA L4 (UUID: GPU-1)"];

describe("what `npm run test:gpu` runs", () => {
  it("is nothing without a GPU, and it says so", () => {
    const { missing } = needsOf({ SPOTTER_VLLM_IMAGE: "a", SPOTTER_SLIME_IMAGE: "b" }, []);
    expect(missing.vllm).toContain("no NVIDIA GPU");
    expect(missing.slime).toContain("no NVIDIA GPU");
  });

  it("is what the images have, or this machine", () => {
    expect(needsOf({ SPOTTER_VLLM_IMAGE: "a", SPOTTER_SLIME_IMAGE: "b" }, GPU)).toEqual({
      images: { vllm: "a", slime: "b" },
      missing: {},
    });
    writeFileSync(folder("train.py"), "");
    writeFileSync(folder("vllm"), "");
    chmodSync(folder("vllm"), 0o755);
    const here = { PATH: folder(), SPOTTER_SLIME_DIR: folder() };
    expect(needsOf(here, GPU)).toEqual({ images: {}, missing: {} });
    // With images the daemon offers those alone.
    const one = needsOf({ ...here, SPOTTER_VLLM_IMAGE: "a" }, GPU);
    expect(Object.keys(one.missing)).toEqual(["slime"]);
    expect(Object.keys(needsOf({}, GPU).missing)).toEqual(["vllm", "slime"]);
  });
});
