/**
 * The words after an entrypoint: files after `@`, for the root or a section, and dotted flags. What a word means
 * follows from the schema, never from a guess.
 *
 * @module
 */
import { targetOf, type Target } from "./argv-target.ts";
import { isJsonText, jsonOf, switchOf, takesFile, tasteOf, typedWord } from "./argv-values.ts";
import { flagText } from "./provenance.ts";
import type { Path, Report } from "./types.ts";
import { leavesOf, type SectionShape } from "./walk.ts";

/** A file, in the order of the words. */
export interface FileArgument {
  file: string;
  /** What it fills; empty: the root. */
  path: Path;
}

/** A value given by a flag, in the order of the words. */
export interface FlagArgument {
  /** As it was typed, without its value: `--trainer.optim.lr`. */
  flag: string;
  path: Path;
  value: unknown;
}

export interface ParsedArguments {
  files: FileArgument[];
  flags: FlagArgument[];
  reports: Report[];
}

/** More steps than any path has. */
const MAX_STEPS = 50;

/**
 * @example
 * parseArguments(["@", "base.toml", "--trainer.optim.lr", "1e-5"], root);
 * // files: [{ file: "base.toml", path: [] }], flags: [{ flag: "--trainer.optim.lr", value: "1e-5", … }]
 */
export function parseArguments(words: readonly string[], root: SectionShape): ParsedArguments {
  return new ArgumentReader(words, root).read();
}

class ArgumentReader {
  readonly #words: readonly string[];
  readonly #root: SectionShape;
  readonly #found: ParsedArguments = { files: [], flags: [], reports: [] };
  #at = 0;

  constructor(words: readonly string[], root: SectionShape) {
    this.#words = words;
    this.#root = root;
  }

  read(): ParsedArguments {
    while (this.#at < this.#words.length) this.#word(this.#words[this.#at++] ?? "");
    return this.#found;
  }

  #word(word: string): void {
    const short = /^-([a-z])(?:=(.*))?$/is.exec(word);
    if (word === "@") this.#file([], "@");
    else if (word.startsWith("--") && word.length > 2) this.#flag(word);
    else if (short && this.#root.spellings.has(short[1] ?? "")) this.#flag(`-${word}`, word.slice(0, 2));
    else this.#stray(word);
  }

  #file(path: Path, after: string): void {
    const file = this.#words[this.#at];
    if (file === undefined || file === "" || file === "@" || file.startsWith("--")) {
      if (file === "") this.#at++;
      const what = after === "@" ? "@ has no file after it." : `The @ after ${after} has no file after it.`;
      this.#report({
        path,
        message: what,
        hint: `Write \`${after === "@" ? "" : `${after} `}@ file.toml\`.`,
      });
      return;
    }
    this.#at++;
    this.#found.files.push({ file, path });
  }

  #stray(word: string): void {
    // What follows an unknown flag is most likely its value.
    if (/^-[a-z]/i.test(word)) this.#takeAll();
    const message = `${word.length > 60 ? `${word.slice(0, 57)}…` : word} belongs to no flag.`;
    if (word.startsWith("@"))
      return this.#report({ path: [], message, hint: `Mind the space: \`@ ${word.slice(1)}\`.` });
    const isFile = /\.(toml|json|ya?ml)$/i.test(word);
    const hint = isFile
      ? `Files come after an @ and a space: \`@ ${word}\`.`
      : "Flags begin with two dashes.";
    this.#report({ path: [], code: "unknown_key", message, hint });
  }

  #flag(word: string, typed?: string): void {
    const equals = word.indexOf("=");
    const name = word.slice(2, equals === -1 ? undefined : equals);
    const inline = equals === -1 ? undefined : word.slice(equals + 1);
    const flag = typed ?? `--${name}`;
    if (name.split(".").length > MAX_STEPS) return this.#stray(word);
    const target = targetOf(name, this.#root);
    if (target.path.includes("__proto__")) {
      this.#takeAll();
      const hint = "__proto__ is no name for a setting. Take another name.";
      return this.#report({ path: [], code: "unknown_key", message: `${flag} names no setting.`, hint });
    }
    if (target.shape === undefined && /^no[-_]/.test(name) && this.#negated(name, flag, inline)) return;
    const next = this.#words[this.#at];
    if (inline === undefined && next?.startsWith("@") && takesFile(target.shape)) {
      return this.#fileFor(target.path, flag, next);
    }
    this.#value(flag, target, inline);
  }

  #fileFor(path: Path, flag: string, next: string): void {
    this.#at++;
    if (next === "@") return this.#file(path, flag);
    this.#found.files.push({ file: next.slice(1), path });
  }

  /** `--no-x`: false for a switch, null for a section that may be absent. */
  #negated(name: string, flag: string, inline: string | undefined): boolean {
    const target = targetOf(name.slice(3), this.#root);
    const taste = tasteOf(target.shape);
    const isSection = target.isNullable && (taste === "section" || takesFile(target.shape));
    if (target.shape === undefined || (taste !== "switch" && !isSection)) return false;
    if (inline === undefined) this.#set(flag, target.path, taste === "switch" ? false : null);
    else
      this.#report({ path: target.path, message: `${flag} takes no value.`, hint: `Write ${flag} alone.` });
    return true;
  }

  #value(flag: string, target: Target, inline: string | undefined): void {
    switch (tasteOf(target.shape)) {
      case "switch":
        return this.#set(flag, target.path, inline ?? this.#switch(target));
      case "text":
        return this.#text(flag, target, inline ?? this.#take((word) => word !== "@"));
      case "word":
        return this.#text(flag, target, inline ?? this.#take((word) => !this.#isFlag(word)));
      case "list":
        return this.#list(flag, target, inline);
      case "section":
        return this.#section(flag, target, inline ?? this.#take((word) => !this.#isFlag(word)));
      case "table":
        return this.#text(flag, target, inline ?? this.#take((word) => !this.#isFlag(word)));
      case "free":
        return this.#free(flag, target, inline);
    }
  }

  #switch({ isNullable }: Target): unknown {
    const next = this.#words[this.#at];
    const isOwn = switchOf(next) !== undefined || (isNullable && next === "None");
    if (isOwn) this.#at++;
    return isOwn && next === "None" ? null : (switchOf(next) ?? true);
  }

  #text(flag: string, target: Target, word: string | undefined): void {
    if (word === undefined) return this.#missing(flag, target);
    const isText = tasteOf(target.shape) === "text";
    if (!isText && takesJson(target) && isJsonText(word)) return this.#json(flag, target, word);
    if (tasteOf(target.shape) !== "table" || (word === "None" && target.isNullable))
      return this.#set(flag, target.path, word);
    const hint = `Give it as JSON: ${flag} '{"key": "value"}'.`;
    this.#report({ path: target.path, message: `${flag} is a table, not ${JSON.stringify(word)}.`, hint });
  }

  #list(flag: string, target: Target, inline: string | undefined): void {
    const words = inline === undefined ? this.#takeAll() : [inline];
    const [first = ""] = words;
    if (words.length === 1 && isJsonText(first) && first.trimStart().startsWith("["))
      return this.#json(flag, target, first);
    const isNone = words.length === 1 && first === "None" && target.isNullable;
    this.#set(flag, target.path, isNone ? null : words);
  }

  #section(flag: string, target: Target, word: string | undefined): void {
    const { path, shape, isNullable } = target;
    if (word !== undefined && isJsonText(word)) return this.#json(flag, target, word);
    if (word === "None" && isNullable) return this.#set(flag, path, null);
    if (word === undefined && (isNullable || shape?.kind === "union")) return this.#set(flag, path, {});
    const inside = leavesOf(shape)
      .slice(0, 5)
      .map((leaf) => flagText([...path, ...leaf]));
    const value = word === undefined ? "" : `, and ${JSON.stringify(word)} is no value for it`;
    const hint = `It takes a file (${flag} @ file.toml), JSON, or one of its settings: ${inside.join(", ")}.`;
    this.#report({ path, message: `${flag} is a section${value}.`, hint });
  }

  #free(flag: string, target: Target, inline: string | undefined): void {
    const isKnown = target.shape !== undefined;
    const words = inline !== undefined ? [inline] : isKnown ? this.#takeSome() : this.#takeAll();
    const [word] = words;
    if (word === undefined) return this.#set(flag, target.path, true);
    if (words.length === 1 && isJsonText(word)) return this.#json(flag, target, word);
    // What a rule may give another name keeps its text: its type follows from that name.
    this.#set(flag, target.path, words.length > 1 ? words : isKnown ? typedWord(word) : word);
  }

  #json(flag: string, target: Target, text: string): void {
    const parsed = jsonOf(text);
    if ("value" in parsed) return this.#set(flag, target.path, parsed.value);
    const message = `What follows ${flag} is not JSON: ${parsed.why.replace(/\.$/, "")}.`;
    this.#report({ path: target.path, message, hint: `Quote it whole: ${flag} '{"key": "value"}'.` });
  }

  #missing(flag: string, { path }: Target): void {
    this.#report({ path, message: `${flag} needs a value.`, hint: `Write \`${flag} VALUE\`.` });
  }

  /** The next word, if it is one to take. */
  #take(isOwn: (word: string) => boolean): string | undefined {
    const word = this.#words[this.#at];
    if (word === undefined || !isOwn(word)) return undefined;
    this.#at++;
    return word;
  }

  #takeSome(): string[] {
    const word = this.#take((next) => !this.#isFlag(next));
    return word === undefined ? [] : [word];
  }

  /** Words up to the next flag or file. */
  #takeAll(): string[] {
    const from = this.#at;
    while (this.#at < this.#words.length && !this.#isFlag(this.#words[this.#at] ?? "")) this.#at++;
    return this.#words.slice(from, this.#at);
  }

  /** A flag or the `@` of a file. Negative numbers are values. */
  #isFlag(word: string): boolean {
    const short = /^-([a-z])(?:=|$)/i.exec(word)?.[1];
    return word === "@" || /^--./.test(word) || (short !== undefined && this.#root.spellings.has(short));
  }

  #set(flag: string, path: Path, value: unknown): void {
    this.#found.flags.push({ flag, path, value });
  }

  #report(report: Report): void {
    this.#found.reports.push(report);
  }
}

function takesJson({ shape }: Target): boolean {
  return shape?.kind === "dict" || shape?.kind === "choice";
}
