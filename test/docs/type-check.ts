import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import * as spotter from "../../sdk/index.ts";
import { root, type Snippet } from "./snippets.ts";

/** What fragments speak of without saying where it comes from. Only those a fragment names are declared for it. */
const GIVEN: Record<string, string> = {
  model: 'import("spotter").Model',
  dataset: 'import("spotter").Dataset',
  rewards: "URL",
  config: 'import("spotter").TrainConfigParams',
  endpoint: 'import("spotter").Endpoint',
  run: 'import("spotter").Run',
  checkpoint: 'import("spotter").Checkpoint',
  messages: 'import("spotter").ChatMessage[]',
};

/** What they use without importing it: the name of a module for each name. */
const MODULES: Record<string, string> = {
  ...Object.fromEntries(Object.keys(spotter).map((name) => [name, "spotter"])),
  Row: "spotter",
};

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"],
  types: ["node"],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true,
  // As in tsconfig.json: they lead `import "spotter"` from dist/ to the source.
  rootDir: root,
  outDir: join(root, "dist"),
};

/**
 * Type errors of snippets, as `where: message`. Each is a module of its own. What is no `isFragment` must
 * import all that it uses.
 */
export function typeErrors(
  snippets: readonly Snippet[],
  isFragment: (snippet: Snippet) => boolean,
): string[] {
  const texts = new Map(
    snippets.map((snippet, index) => [
      join(root, "test/docs", `snippet-${index}.ts`),
      `${isFragment(snippet) ? contextOf(snippet) : ""}${snippet.code}\nexport {};\n`,
    ]),
  );
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => texts.has(path) || disk.fileExists(path),
    readFile: (path) => texts.get(path) ?? disk.readFile(path),
    getSourceFile(path, language, ...rest) {
      const text = texts.get(path);
      if (text === undefined) return disk.getSourceFile(path, language, ...rest);
      return ts.createSourceFile(path, text, language);
    },
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap((path, index) => {
    const source = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${snippets[index]?.where}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
}

/** On the first line, so that the lines of the fragment keep their distance. */
function contextOf({ code, file }: Snippet): string {
  const isMissing = ([name]: [string, string]) => names(code, name) && !declares(code, name);
  const imports = Object.entries({ ...exportsOf(file), ...MODULES }).filter(isMissing);
  const given = Object.entries(GIVEN).filter(isMissing);
  return [
    ...imports.map(([name, from]) => `import { ${name} } from "${from}";`),
    ...given.map(([name, type]) => `declare const ${name}: ${type};`),
    "",
  ].join(" ");
}

/** A docstring speaks of what its own file exports, though not all of that is for users. */
function exportsOf(file: string | undefined): Record<string, string> {
  if (file === undefined) return {};
  const text = readFileSync(join(root, file), "utf8");
  const names = text.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm);
  return Object.fromEntries([...names].map(([, name = ""]) => [name, `../../${file}`]));
}

function names(code: string, name: string): boolean {
  // Not as a property or a key; `...name` is a use.
  return new RegExp(`(?<![\\w"'-]|(?<!\\.\\.)\\.)${name}\\b(?!:)`).test(code);
}

function declares(code: string, name: string): boolean {
  return new RegExp(`(const|let|function|class|import)\\s+(\\{[^}]*)?\\b${name}\\b`).test(code);
}
