import { join } from "node:path";
import { build } from "esbuild";

/**
 * What the pages load in the browser, as files for the function that serves them. The views are written against
 * hono/jsx; in the browser hono/jsx/dom takes its place.
 */
export async function browserFiles(client: string): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [join(client, "main.ts")],
    outdir: client,
    bundle: true,
    write: false,
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
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [`client/${path.slice(client.length)}`, text]),
  );
}
