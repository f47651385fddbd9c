import { isFunction } from "./flow.ts";
import { parsePython, sourceOf, splitAt, type Statement } from "./statements.ts";
import type { PythonFault, Token } from "./tokens.ts";

export interface Parameter {
  name: string;
  /** `*` or `**`. */
  stars: string;
  annotation: string | undefined;
  /** Source of the default. */
  initial: string | undefined;
  token: Token;
}

export interface Decorator {
  /** `reward`, `core.reward`, with what it was imported as resolved: always the dotted name at its origin. */
  name: string;
  /** Keyword arguments by name, as source; undefined without brackets. */
  keywords: Map<string, { source: string; token: Token }> | undefined;
  token: Token;
}

export interface PythonFunction {
  name: string;
  isAsync: boolean;
  parameters: Parameter[];
  returns: string | undefined;
  decorators: Decorator[];
  docstring: string | undefined;
  body: Statement[];
  token: Token;
}

export interface PythonFile {
  /** Those that exist once the file is imported; not those of classes and of other functions. */
  functions: PythonFunction[];
  /** Names that are bound by imports: local name → dotted origin. */
  imports: Map<string, string>;
  /** Modules imported from beside the file cannot be told from packages here: all of them. */
  modules: Set<string>;
  statements: Statement[];
  fault?: PythonFault;
}

/** A decorator or a function without a name, in a file that is no Python. */
const NOWHERE: Token = { kind: "name", text: "", line: 1, column: 1 };
const RUN_AT_IMPORT = new Set(["if", "elif", "else", "try", "except", "finally", "with"]);

/** Reads the functions of a file with their decorators, without running it. */
export function readPython(source: string): PythonFile {
  const { statements, fault } = parsePython(source);
  const imports = new Map<string, string>();
  const modules = new Set<string>();
  for (const { tokens } of everything(statements)) readImport(tokens, imports, modules);
  const functions = functionsOf(statements, imports);
  return { functions, imports, modules, statements, ...(fault && { fault }) };
}

/** Of a block; also below `if`, `try` and `with`, which run when the file is imported. */
function functionsOf(
  statements: readonly Statement[],
  imports: ReadonlyMap<string, string>,
): PythonFunction[] {
  const functions: PythonFunction[] = [];
  let decorators: Decorator[] = [];
  for (const { tokens, body } of statements) {
    const word = tokens[0]?.text ?? "";
    if (word === "@") {
      decorators.push(decoratorOf(tokens, imports));
      continue;
    }
    if (isFunction(tokens)) functions.push(functionOf({ tokens, body }, decorators));
    else if (RUN_AT_IMPORT.has(word) && tokens[1]?.text !== "False")
      functions.push(...functionsOf(body ?? [], imports));
    decorators = [];
  }
  return functions;
}

function everything(statements: readonly Statement[]): Statement[] {
  return statements.flatMap((each) => [each, ...everything(each.body ?? [])]);
}

function readImport(tokens: readonly Token[], imports: Map<string, string>, modules: Set<string>): void {
  const word = tokens[0]?.text;
  if (word === "import") {
    for (const piece of splitAt(tokens.slice(1), ",")) {
      const [path, alias] = aliased(piece);
      modules.add(path);
      imports.set(alias ?? path.split(".")[0] ?? path, alias ? path : (path.split(".")[0] ?? path));
    }
  }
  if (word !== "from") return;
  const at = tokens.findIndex(({ text }) => text === "import");
  if (at < 0) return;
  const module = sourceOf(tokens.slice(1, at));
  modules.add(module);
  const names = tokens.slice(at + 1).filter(({ text }) => text !== "(" && text !== ")");
  for (const piece of splitAt(names, ",")) {
    const [name, alias] = aliased(piece);
    if (name !== "") imports.set(alias ?? name, `${module}.${name}`);
  }
}

function aliased(tokens: readonly Token[]): [string, string | undefined] {
  const as = tokens.findIndex(({ text }) => text === "as");
  return as < 0 ? [sourceOf(tokens), undefined] : [sourceOf(tokens.slice(0, as)), tokens[as + 1]?.text];
}

function decoratorOf(tokens: readonly Token[], imports: ReadonlyMap<string, string>): Decorator {
  const open = tokens.findIndex(({ text }) => text === "(");
  const written = sourceOf(tokens.slice(1, open < 0 ? undefined : open));
  const [first = "", ...rest] = written.split(".");
  const name = [imports.get(first) ?? first, ...rest].join(".");
  const token = tokens[1] ?? NOWHERE;
  if (open < 0) return { name, keywords: undefined, token };
  const keywords = new Map<string, { source: string; token: Token }>();
  for (const piece of splitAt(tokens.slice(open + 1, -1), ",")) {
    const [key] = piece;
    if (key && piece[1]?.text === "=")
      keywords.set(key.text, { source: sourceOf(piece.slice(2)), token: key });
    else if (key) keywords.set(`*${keywords.size}`, { source: sourceOf(piece), token: key });
  }
  return { name, keywords, token };
}

function functionOf({ tokens, body = [] }: Statement, decorators: Decorator[]): PythonFunction {
  const isAsync = tokens[0]?.text === "async";
  const name = tokens[isAsync ? 2 : 1] ?? NOWHERE;
  const open = tokens.findIndex(({ text }) => text === "(");
  const close = closing(tokens, open);
  const arrow = tokens.findIndex(({ text }, index) => index > close && text === "->");
  return {
    name: name.text,
    isAsync,
    parameters: parametersOf(tokens.slice(open + 1, close)),
    returns: arrow < 0 ? undefined : sourceOf(tokens.slice(arrow + 1)),
    decorators,
    docstring: docstringOf(body),
    body,
    token: name,
  };
}

function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let index = Math.max(0, open); index < tokens.length; index++) {
    const { text, kind } = tokens[index] as Token;
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth++;
    if (")]}".includes(text) && --depth === 0) return index;
  }
  return tokens.length;
}

function parametersOf(tokens: readonly Token[]): Parameter[] {
  return splitAt(tokens, ",").flatMap((piece): Parameter[] => {
    const stars = piece[0]?.text === "*" || piece[0]?.text === "**" ? piece[0].text : "";
    const [token, ...rest] = stars ? piece.slice(1) : piece;
    // A bare * or / only says how what follows is passed.
    if (!token || token.text === "/") return [];
    const [head = [], initial] = splitAt(rest, "=");
    const annotation = head[0]?.text === ":" ? sourceOf(head.slice(1)) : undefined;
    return [{ name: token.text, stars, annotation, initial: initial && sourceOf(initial), token }];
  });
}

function docstringOf(body: readonly Statement[]): string | undefined {
  const tokens = body[0]?.tokens ?? [];
  if (tokens.length === 0 || tokens.some(({ kind }) => kind !== "text")) return undefined;
  if (/^[a-z]*[bft]/i.test(tokens[0]?.text ?? "")) return undefined;
  return tokens.map(({ text }) => text.replace(/^[a-z]*('''|"""|'|")([\s\S]*)\1$/i, "$2")).join("");
}
