import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const NAMESPACE = "aws-client";
/** Of what clients export, what programs name; the rest are types and the like. */
const NAMED = /(Client|Command|Exception)$|^(get|wait|paginate)[A-Z]/;

/** Where people's own machines have their credentials; a function has its role's in the environment. */
const OF_PEOPLE = /^@aws-sdk\/credential-provider-(sso|ini|process|web-identity)$/;
const NO_CREDENTIALS = `
import { CredentialsProviderError } from "@smithy/core/config";
const absent = () => async () => {
  throw new CredentialsProviderError("This function finds credentials in its environment only.", { tryNextLink: true });
};
export { absent as fromSSO, absent as fromIni, absent as fromProcess, absent as fromTokenFile };
`;

/** A shape of a client's schema. Keys that are computed keep esbuild from leaving out those that nobody uses. */
const SHAPE = /^((?:export )?var [\w$]+ = )(\[[^;]*\]);$/gm;

/**
 * Makes `import("@aws-sdk/client-x")` mean the exports that the sources of an entry name, and no others. A module
 * that is loaded whole keeps all it has: the client of S3 alone would be larger than a function may be.
 */
export async function awsClients(entry: string): Promise<Plugin> {
  const words = await wordsOf(entry);
  return {
    name: NAMESPACE,
    setup(plugin) {
      plugin.onResolve({ filter: OF_PEOPLE }, ({ kind, path, resolveDir }) =>
        kind === "dynamic-import" ? { path, namespace: "no-credentials", pluginData: resolveDir } : undefined,
      );
      plugin.onLoad({ filter: /.*/, namespace: "no-credentials" }, ({ pluginData }) => ({
        contents: NO_CREDENTIALS,
        resolveDir: String(pluginData),
      }));
      plugin.onResolve({ filter: /^@aws-sdk\// }, ({ kind, path, importer, resolveDir }) =>
        kind === "dynamic-import" && importer.endsWith(".ts")
          ? { path, namespace: NAMESPACE, pluginData: resolveDir }
          : undefined,
      );
      plugin.onLoad({ filter: /@aws-sdk[/\\].*[/\\]schemas[/\\]schemas_\d+\.js$/ }, async ({ path }) => ({
        contents: (await readFile(path, "utf8")).replace(SHAPE, "$1/* @__PURE__ */ (() => $2)();"),
      }));
      plugin.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path, pluginData }) => {
        const names = Object.keys((await import(path)) as object);
        const used = names.filter((each) => NAMED.test(each) && words.has(each)).sort();
        const contents = `export { ${used.join(", ")} } from ${JSON.stringify(path)};`;
        return { contents, resolveDir: String(pluginData) };
      });
    },
  };
}

/** Every word in the sources that an entry reaches, those of packages apart. */
async function wordsOf(entry: string): Promise<Set<string>> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const texts = Object.keys(metafile.inputs).map((input) => readFileSync(resolve(input), "utf8"));
  return new Set(texts.flatMap((text) => text.match(/\b[A-Za-z]\w+\b/g) ?? []));
}
