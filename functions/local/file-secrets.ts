import { chmod, readFile, stat } from "node:fs/promises";
import * as z from "zod/mini";
import { SpotterError } from "../../sdk/schema/errors.ts";
import type { Secrets } from "../ports/secrets.ts";
import { createRedactor, type Redactor } from "../secrets/redactor.ts";
import { checkSecretName, missingSecret } from "../secrets/secret-name.ts";
import { atomicWrite } from "./atomic-write.ts";
import { diskError, errorCode } from "./disk-error.ts";
import { parseJson } from "./parse-json.ts";

const content = z.object({ v: z.literal(1), secrets: z.record(z.string(), z.string()) });

export interface FileSecretsOptions {
  /** Learns every value, so that logs can hide it. Default: one of its own. */
  redactor?: Redactor;
}

/** Secrets in one JSON file that only the owner can read. */
export class FileSecrets implements Secrets {
  readonly #path: string;
  readonly #redactor: Redactor;
  /** Changes are read-modify-write: one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, options: FileSecretsOptions = {}) {
    this.#path = path;
    this.#redactor = options.redactor ?? createRedactor();
  }

  async set(name: string, value: string): Promise<void> {
    checkSecretName(name);
    this.#redactor.add(value);
    await this.#change((secrets) => secrets.set(name, value));
  }

  async list(): Promise<string[]> {
    return [...(await this.#load()).keys()].sort();
  }

  async remove(name: string): Promise<void> {
    await this.#change((secrets) => secrets.delete(name));
  }

  async resolve(names: readonly string[]): Promise<Record<string, string>> {
    const secrets = await this.#load();
    const granted: [string, string][] = names.map((name) => {
      const value = secrets.get(name);
      if (value === undefined) throw missingSecret(name);
      return [name, value];
    });
    return Object.fromEntries(granted);
  }

  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  /** Reads the file, so that what an earlier process was told is hidden from the start. */
  async learn(): Promise<void> {
    await this.#load();
  }

  async #change(edit: (secrets: Map<string, string>) => void): Promise<void> {
    const turn = this.#last.then(async () => {
      const secrets = await this.#load();
      edit(secrets);
      try {
        atomicWrite(this.#path, `${JSON.stringify({ v: 1, secrets: Object.fromEntries(secrets) })}\n`);
      } catch (error) {
        throw diskError(error, this.#path);
      }
    });
    this.#last = turn.catch(() => {});
    await turn;
  }

  async #load(): Promise<Map<string, string>> {
    let text: string;
    try {
      if (((await stat(this.#path)).mode & 0o077) !== 0) await chmod(this.#path, 0o600);
      text = await readFile(this.#path, "utf8");
    } catch (error) {
      if (errorCode(error) === "ENOENT") return new Map();
      throw diskError(error, this.#path);
    }
    const parsed = content.safeParse(parseJson(text));
    if (parsed.success) {
      const secrets = new Map(Object.entries(parsed.data.secrets));
      for (const value of secrets.values()) this.#redactor.add(value);
      return secrets;
    }
    throw new SpotterError("state_unreadable", `${this.#path} is not a file of secrets.`, {
      where: this.#path,
      hint: "Restore it from a backup, or move it away and set the secrets again with `spotter secret set`.",
    });
  }
}
