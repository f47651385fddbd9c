import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");
const entry = pathToFileURL(join(root, "infra/start.mjs")).href;

function startAs(version: string): string {
  const script = `
    Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} });
    await import(${JSON.stringify(entry)}).catch((error) => console.log(error.message));`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).stdout;
}

it.each(["20.19.0", "22.18.0"])("refuses Node %s and tells the remedy", (version) => {
  expect(startAs(version)).toMatch(/^node_too_old: .*22\.19.*npm exec -- pulumi up/);
});

it("is what Pulumi.yaml names", () => {
  const { main, runtime } = parse(readFileSync(join(root, "Pulumi.yaml"), "utf8")) as {
    main: string;
    runtime: unknown;
  };
  expect(pathToFileURL(join(root, main)).href).toBe(entry);
  // With `typescript: true` the host would load an old compiler that cannot read the program.
  expect(runtime).toEqual({ name: "nodejs", options: { typescript: false } });
});
