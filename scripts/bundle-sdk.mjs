// Makes one file each of what a script loads at once. Unbundled, `import "spotter"` reads some two hundred
// files (zod alone brings texts in fifty languages) and takes twice as long as it may. Other entries keep
// the files that tsc wrote; so do dynamic imports, which is what keeps the daemon finder and esbuild lazy.
import { build } from "esbuild";
import { join } from "node:path";

const ENTRIES = ["sdk/index.js", "sdk/local/connect.js", "sdk/math/index.js"];

export async function bundleSdk(dist) {
  for (const entry of ENTRIES) {
    const file = join(dist, entry);
    await build({
      entryPoints: [file],
      outfile: file,
      allowOverwrite: true,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node22",
      // A class that names itself would else be called _SpotterError where it is printed.
      keepNames: true,
      logLevel: "warning",
      plugins: [keepDynamicImports],
    });
  }
}

/** All entries and what they load later lie in one folder each, so the paths stay right. */
const keepDynamicImports = {
  name: "keep-dynamic-imports",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path, external: true } : undefined,
    );
  },
};
