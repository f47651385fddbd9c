import { rmSync, writeFileSync } from "node:fs";
import { SpotterError } from "../../../sdk/schema/errors.ts";

/**
 * Calls `body` with a file of `NAME=value` lines that only we can read, and that is gone afterwards.
 *
 * @throws SpotterError `invalid_input`: such a file has no way to write a line break
 */
export async function withEnvironmentFile<T>(
  path: string,
  environment: Record<string, string>,
  body: (path: string) => Promise<T>,
): Promise<T> {
  const text = environmentText(environment);
  // One that a daemon left when it was killed may be readable in another way.
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600 });
  try {
    return await body(path);
  } finally {
    rmSync(path, { force: true });
  }
}

export function environmentText(environment: Record<string, string>): string {
  const odd = unwritable(environment);
  if (odd.length === 0)
    return Object.entries(environment)
      .map(([name, value]) => `${name}=${value}\n`)
      .join("");
  const names = odd.map((name) => JSON.stringify(name)).join(", ");
  throw new SpotterError("invalid_input", `A container in Docker cannot be given the variable ${names}.`, {
    where: "env",
    hint: "Use names without blanks and values of one line.",
  });
}

/** Names of variables that such a file cannot hold. */
export function unwritable(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment)
    .filter(([name, value]) => /[\s=#]/.test(name) || /[\r\n\0]/.test(value))
    .map(([name]) => name);
}
