import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "../..");
const CLIENT = /@aws-sdk\/client-([a-z0-9-]+)/g;
const COMMAND = /\b([A-Z]\w+)Command\b/g;
const PAGES = /\bpaginate([A-Z]\w+)\b/g;

/** A call of AWS as the sources of a function make it. */
export interface Call {
  /** Such as `dynamodb`: what the client's package is called by. */
  client: string;
  /** Such as `GetItem`. */
  command: string;
  /** Where it is named, such as `functions/aws/dynamo-store/table.ts`. */
  file: string;
}

/** Every call that what an entry imports could make, in files of ours; what AWS's own clients do is theirs. */
export async function callsOf(entry: string): Promise<Call[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "silent",
  });
  const files = Object.keys(metafile.inputs).filter((file) => !file.includes("node_modules"));
  const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
  const calls = await Promise.all([...texts].map(([file, text]) => callsIn(file, text, texts)));
  return calls.flat();
}

async function callsIn(file: string, text: string, texts: ReadonlyMap<string, string>): Promise<Call[]> {
  const commands = new Set([...matches(text, COMMAND), ...matches(text, PAGES)]);
  if (commands.size === 0) return [];
  const clients = await clientsOf(file, text, texts);
  return [...commands].flatMap((command) => {
    const found = [...clients]
      .filter(([, exported]) => exported.has(`${command}Command`))
      .map(([client]) => client);
    // A word that no client knows is none of theirs; one that two know has to be told apart by whoever reads this.
    if (found.length > 1)
      throw new Error(`${file} names ${command}, which ${found.join(" and ")} both have.`);
    return found.map((client) => ({ client, command, file }));
  });
}

/** The clients that a file names; if none, those of the files beside it, which hand theirs on. */
async function clientsOf(file: string, text: string, texts: ReadonlyMap<string, string>) {
  const own = matches(text, CLIENT);
  const beside = [...texts].filter(([other]) => dirname(other) === dirname(file));
  const names = own.length > 0 ? own : beside.flatMap(([, other]) => matches(other, CLIENT));
  const exported = [...new Set(names)].map(async (name): Promise<[string, Set<string>]> => {
    const client = (await import(/* @vite-ignore */ `@aws-sdk/client-${name}`)) as object;
    return [name, new Set(Object.keys(client))];
  });
  return new Map(await Promise.all(exported));
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = ""]) => group);
}
