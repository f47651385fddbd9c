import { beforeAll, describe, expect, it } from "vitest";
import { bundleSdk, type SdkBundle } from "../../scripts/sdk-size.ts";

/** What `import "spotter"` may weigh, zod/mini included, minified and gzipped. */
const MAX_BYTES = 30_000;

let bundle: SdkBundle;

beforeAll(async () => {
  bundle = await bundleSdk();
});

describe('import "spotter"', () => {
  it("weighs at most 30 kB gzipped", () => {
    expect(bundle.gzipBytes).toBeGreaterThan(10_000);
    expect(bundle.gzipBytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  it("reaches neither the command line nor the dialects nor the daemon finder", () => {
    const reached = Object.keys(bundle.metafile.inputs).filter((path) =>
      /^sdk\/((cli|config|local|hub|datasets)\/|user-code\/bundle)/.test(path),
    );
    expect(reached).toEqual([]);
  });

  it("depends on zod/mini and Node alone", () => {
    const packages = Object.keys(bundle.metafile.inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(packages)]).toEqual(["zod"]);
    const external = Object.values(bundle.metafile.outputs).flatMap(({ imports }) =>
      imports.map(({ path }) => path),
    );
    const lazy = external.filter((path) => !path.startsWith("node:")).sort();
    expect([...new Set(lazy)]).toEqual([
      "./datasets/index.ts",
      "./eval-rows.ts",
      "./export/export-checkpoint.ts",
      "./hub/push-model.ts",
      "./local/connect.ts",
      "./prepare-eval.ts",
      "./prepare-run.ts",
      "./upload.ts",
    ]);
  });
});
