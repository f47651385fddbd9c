import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

const root = join(import.meta.dirname, "..");

export interface SdkBundle {
  gzipBytes: number;
  metafile: Metafile;
}

/**
 * `import "spotter"` bundled, minified and gzipped with zod/mini inside. What the SDK imports only when asked
 * for (the daemon finder, the bundler of user code) stays outside.
 */
export async function bundleSdk(): Promise<SdkBundle> {
  const result = await build({
    entryPoints: ["sdk/index.ts"],
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    legalComments: "none",
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
  const code = result.outputFiles[0]?.contents ?? new Uint8Array();
  return { gzipBytes: gzipSync(code, { level: 9 }).length, metafile: result.metafile };
}
