import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A fresh folder for each test of the file, gone afterwards. */
export function useFolder(): (...names: string[]) => string {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "spotter-test-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return (...names) => join(folder, ...names);
}
