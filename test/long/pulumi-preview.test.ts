import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const found = spawnSync("pulumi", ["version"], { encoding: "utf8" }).status === 0;
if (!found)
  process.stdout.write(
    "test/long/pulumi-preview is skipped: there is no pulumi command. https://www.pulumi.com/docs/install brings it.\n",
  );

/** What a preview may end with where nothing but this machine can be reached. */
const NO_NETWORK =
  /no such host|could not|connection refused|dial tcp|failed to (install|download)|credentials|i\/o timeout/i;

describe.skipIf(!found)("a preview by Pulumi itself, without an account", () => {
  it("runs the program from the committed Pulumi.yaml as far as it goes", { timeout: 600_000 }, () => {
    const state = mkdtempSync(join(tmpdir(), "spotter-preview-"));
    const env = {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
      PULUMI_BACKEND_URL: `file://${state}`,
      PULUMI_CONFIG_PASSPHRASE: "of a test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      AWS_ACCESS_KEY_ID: "none",
      AWS_SECRET_ACCESS_KEY: "none",
      AWS_EC2_METADATA_DISABLED: "true",
    };
    const pulumi = (...args: string[]) =>
      spawnSync("pulumi", [...args, "--non-interactive"], { cwd: root, env, encoding: "utf8" });
    const config = (key: string, value: string) =>
      pulumi(
        "config",
        "set",
        key,
        value,
        "--stack",
        "spotter-preview",
        "--config-file",
        join(state, "stack.yaml"),
      );
    try {
      expect(pulumi("stack", "init", "spotter-preview").stderr).not.toMatch(/error:/);
      config("aws:region", "eu-central-1");
      for (const check of ["CredentialsValidation", "RequestingAccountId", "MetadataApiCheck"])
        config(`aws:skip${check}`, "true");
      const words = ["preview", "--stack", "spotter-preview", "--config-file", join(state, "stack.yaml")];
      const { status, stdout, stderr } = pulumi(...words);
      const said = `${stdout}\n${stderr}`;
      process.stdout.write(`pulumi preview ended with ${status}: ${said.trim().split("\n").at(-1) ?? ""}\n`);
      // A fault of the program is ours; a provider that cannot be had here is not.
      expect(said).not.toMatch(/node_too_old|invalid_input|TypeError|SyntaxError|ReferenceError|unhandled/i);
      if (status !== 0) expect(said).toMatch(NO_NETWORK);
    } finally {
      rmSync(state, { recursive: true, force: true });
    }
  });
});
