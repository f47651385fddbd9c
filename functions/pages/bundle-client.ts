import { join } from "node:path";

export interface ClientFiles {
  script: string;
  style: string;
}

/**
 * Bundles the browser's script and stylesheet from their folder: one file each, minified. The views are
 * written against hono/jsx; in the browser hono/jsx/dom takes its place.
 */
export async function bundleClient(folder: string): Promise<ClientFiles> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(folder, "main.ts")],
    // Never written: it only gives the two outputs their names.
    outdir: folder,
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2023", "chrome120", "firefox121", "safari17.2"],
    legalComments: "none",
    logLevel: "silent",
    plugins: [
      {
        name: "hono-jsx-in-the-browser",
        setup: (plugin) => {
          plugin.onResolve({ filter: /^hono\/jsx$/ }, ({ resolveDir }) =>
            plugin.resolve("hono/jsx/dom", { kind: "import-statement", resolveDir }),
          );
        },
      },
    ],
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text;
  const [script, style] = [textOf(".js"), textOf(".css")];
  if (script === undefined || style === undefined) throw new Error(`esbuild made nothing of ${folder}.`);
  return { script, style };
}
