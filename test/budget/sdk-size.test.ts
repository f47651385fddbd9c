import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

/** What `import "spotter"` may weigh, zod/mini included, minified and gzipped. */
const MAX_BYTES = 30_000;
const entry = "sdk/index.ts";

let metafile: Metafile;
let bytes: Uint8Array;

beforeAll(async () => {
  const result = await build({
    entryPoints: [entry],
    absWorkingDir: process.cwd(),
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    write: false,
    metafile: true,
    plugins: [
      {
        name: "leave-dynamic-imports",
        setup(plugin) {
          plugin.onResolve({ filter: /^\./ }, ({ kind, path }) =>
            kind === "dynamic-import" ? { path, external: true } : undefined,
          );
        },
      },
    ],
  });
  metafile = result.metafile;
  bytes = result.outputFiles[0]?.contents ?? new Uint8Array();
});

describe('import "spotter"', () => {
  it(`weighs at most ${MAX_BYTES} bytes gzipped`, () => {
    expect(bytes.length).toBeGreaterThan(10_000);
    expect(gzipSync(bytes).length).toBeLessThanOrEqual(MAX_BYTES);
  });

  it("reaches neither the command line nor the dialects nor the daemon finder", () => {
    const reached = Object.keys(metafile.inputs).filter((path) =>
      /^sdk\/((cli|config|local)\/|user-code\/bundle)/.test(path),
    );
    expect(reached).toEqual([]);
  });

  it("depends on zod/mini and Node alone", () => {
    const packages = Object.keys(metafile.inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    expect([...new Set(packages)]).toEqual(["zod"]);
    const external = Object.values(metafile.outputs).flatMap(({ imports }) =>
      imports.map(({ path }) => path),
    );
    const lazy = external.filter((path) => !path.startsWith("node:")).sort();
    expect(lazy).toEqual(["./download.ts", "./local/connect.ts", "./user-code/bundle.ts"]);
  });
});
