import { describe, expect, it } from "vitest";
import { withSection } from "../../config/project-folder/check.ts";
import { projectFolder, REWARDS_PY } from "../../config/project-folder/folder.ts";
import { fakeServer } from "../../fake-server.ts";
import { HASH, runDetailOf } from "../../records.ts";
import { runCli } from "../run-cli.ts";

const TOOLS_PY = `from rnow.core import tool

@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b
`;
const CONFIG = `${withSection("model: { path: spotter/nano }")}rollout: { max_turns: 2, reward_timeout: 7, include_thinking: true }\n`;
const FILES = { "config.yml": CONFIG, "rewards.py": REWARDS_PY, "tools.py": TOOLS_PY };

interface Finding {
  code: string;
  path: string;
  hint: string;
}

async function dryRun(files: Record<string, string>, ...words: string[]) {
  const { code, out } = await runCli(["run", "-d", projectFolder(files), ...words, "--dry-run", "--json"]);
  return { code, ...(JSON.parse(out) as Resolved) };
}

interface Resolved {
  spec: Record<string, unknown>;
  provenance: Record<string, string>;
  findings: Finding[];
  native: unknown;
}

describe("spotter run --allow-python", () => {
  it("sends rewards.py and tools.py as they are, with the project's time limits", async () => {
    const { url, requests } = await fakeServer({
      "*": ({ path }) =>
        path.startsWith("/datasets/")
          ? { v: 1, sha256: HASH, rows: 4, bytes: 1, createdAtMs: 1 }
          : path === "/runs"
            ? runDetailOf({ state: "queued" })
            : { v: 1, sha256: HASH, name: "rewards.py", exports: [], bytes: 1, createdAtMs: 1 },
    });
    const folder = projectFolder(FILES);
    const { code, err } = await runCli(["run", "-d", folder, "--allow-python", "--no-write"], { url });
    expect([code, err]).toEqual([0, ""]);
    const sent = requests.find(({ path, method }) => method === "POST" && path === "/runs");
    const spec = JSON.parse(sent?.body ?? "") as Record<string, unknown>;
    expect(spec).toMatchObject({
      python: {
        rewards: { file: "rewards.py", timeoutMs: 7_000 },
        tools: { file: "tools.py", timeoutMs: 60_000 },
      },
    });
    expect(spec).not.toHaveProperty("rewards");
    expect(spec).not.toHaveProperty("tools");
  });

  it("says of every value whence it comes", async () => {
    const { code, provenance, findings } = await dryRun(FILES, "--allow-python");
    expect([code, findings]).toEqual([0, []]);
    expect(provenance).toMatchObject({
      "python.code.sha256": "rewards.py, tools.py",
      "python.rewards.file": "rewards.py",
      "python.rewards.timeoutMs": expect.stringMatching(/^config\.yml:\d+$/) as string,
      "python.rewards.maxMissingShare": "default",
      "python.tools.file": "tools.py",
    });
  });

  it("is what a run of such a project is refused without, with the reason and the way", async () => {
    const { native, findings } = await dryRun(FILES);
    expect(native).toBeNull();
    expect(findings.map(({ code, path }) => [code, path])).toEqual([
      ["engine_unsupported", "dataset_type"],
      ["engine_unsupported", "rollout"],
    ]);
    for (const { hint } of findings) expect(hint).toContain("add --allow-python");
    const { code, out } = await runCli(["run", "-d", projectFolder(FILES), "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ runs: [] });
  });

  it("does not make up for rewards in two languages", async () => {
    const typescript = `import { reward } from "spotter";\nexport const other = reward(() => 1);\n`;
    const { native, findings } = await dryRun({ ...FILES, "rewards.ts": typescript }, "--allow-python");
    expect(native).toBeNull();
    expect(findings).toMatchObject([
      { code: "engine_unsupported", path: "dataset_type", hint: "Write all rewards in one language." },
    ]);
  });
});
