import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { withSection } from "../../config/project-folder/check.ts";
import { projectFolder } from "../../config/project-folder/folder.ts";
import { fakeServer, sendError } from "../../fake-server.ts";
import { HASH, runDetailOf } from "../../records.ts";
import { runCli } from "../run-cli.ts";

const TYPESCRIPT = {
  "rewards.py": undefined,
  "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
};
const NANO = withSection("model: { path: spotter/nano }");

interface Resolved {
  spec: Record<string, unknown> | null;
  provenance: Record<string, string>;
  findings: { code: string }[];
  native: { engine: string } | null;
}

async function dryRun(folder: string, ...words: string[]): Promise<{ code: number; json: unknown }> {
  const { code, out, err } = await runCli(["run", "-d", folder, ...words, "--dry-run", "--json"]);
  expect(err).toBe("");
  return { code, json: JSON.parse(out) };
}

/** A control plane that takes whatever a launch sends; `POST /runs` may refuse a model. */
async function gym(refused?: string) {
  return fakeServer({
    "*": ({ method, path }, response) => {
      if (method === "PUT" && path.startsWith("/datasets/"))
        return { v: 1, sha256: HASH, rows: 4, bytes: 1, createdAtMs: 1 };
      if (method === "PUT")
        return { v: 1, sha256: HASH, name: "rewards.ts", exports: [], bytes: 1, createdAtMs: 1 };
      if (path === "/runs/run1") return runDetailOf();
      return sendError(response, 404, "not_found", `No ${path}.`);
    },
    "POST /runs": ({ body }, response) =>
      refused !== undefined && body.includes(refused)
        ? sendError(response, 404, "model_not_found", `There is no model ${refused}.`)
        : { ...runDetailOf({ state: "queued" }), spec: JSON.parse(body) as object },
  });
}

describe("spotter run --dry-run", () => {
  it("estimates time and memory on this machine, asking nobody", async () => {
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const { json } = await dryRun(folder);
    const { estimate } = json as { estimate: Record<string, number> };
    expect(estimate["seconds"]).toBeGreaterThan(0);
    expect(estimate["neededMiB"]).toBeGreaterThan(200);
    expect(estimate["availableMiB"]).toBeGreaterThan(100);
    const { out } = await runCli(["run", "-d", folder, "--dry-run"]);
    expect(out).toMatch(/^Estimated on this machine: about \d+ min, and [\d,]+ of [\d,]+ MiB of memory\.$/m);
  });

  it("means a model of the command line as seen from where it runs", async () => {
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const nano = join(import.meta.dirname, "../../../../engine/models/nano");
    const { json } = await dryRun(folder, "--model", relative(process.cwd(), nano).replace(/^(?!\.)/, "./"));
    expect((json as Resolved).spec?.["model"]).toEqual({ name: nano });
  });

  it("warns of a judge in Python that no secret is granted to", async () => {
    const asks = `from rnow.core import RewardArgs, llm_judge, reward\n\n\n@reward\nasync def accuracy(args: RewardArgs, messages: list) -> float:\n    return await llm_judge("Good?", secrets=args.secrets)\n`;
    const folder = projectFolder({ "rewards.py": asks, "config.yml": NANO });
    const codes = async (...words: string[]) => {
      const { json } = await dryRun(folder, "--allow-python", ...words);
      return (json as Resolved).findings.map(({ code }) => code);
    };
    expect(await codes()).toContain("secret_missing");
    expect(await codes("--secret", "OPENAI_API_KEY")).not.toContain("secret_missing");
  });

  it("shows the trackers that options name, and none without", async () => {
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const { json } = await dryRun(folder, "--tensorboard", "/tmp/runs", "--wandb", "team/haiku");
    expect((json as Resolved).spec?.["trackers"]).toEqual([
      { kind: "tensorboard", path: "/tmp/runs" },
      expect.objectContaining({ kind: "wandb", project: "haiku", entity: "team", secret: "WANDB_API_KEY" }),
    ]);
    expect((json as Resolved).provenance["trackers"]).toBe("--tensorboard, --wandb");
    expect(((await dryRun(folder)).json as Resolved).spec?.["trackers"]).toBeUndefined();
  });

  it("prints { spec, provenance, findings, native } and writes nothing", async () => {
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const { code, json } = await dryRun(folder, "trainer.num_epochs=2");
    expect(code).toBe(0);
    const { spec, provenance, findings, native } = json as Resolved;
    expect(findings).toEqual([]);
    expect(spec).toMatchObject({ kind: "rl", model: { name: "spotter/nano" }, trainer: { steps: 2 } });
    expect(native).toEqual({ engine: "onnx", spec });
    expect(provenance).toMatchObject({
      "model.name": "config.yml:1",
      "trainer.steps": "trainer.num_epochs=2: 2 times 4 rows in batches of 4",
      "rewards.code.sha256": "rewards.ts",
      "dataset.sha256": "train.jsonl",
      "trainer.beta1": "default",
    });
    expect(readFileSync(join(folder, "config.yml"), "utf8")).toBe(NANO);
  });

  it("resolves what cannot run here, with the reason", async () => {
    const model = "model: { path: openai/gpt-oss-20b }";
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": withSection(model) });
    const { code, json } = await dryRun(folder);
    const { spec, findings, native } = json as Resolved;
    expect([code, native, spec?.kind]).toEqual([0, null, "rl"]);
    expect(findings.map(({ code }) => code)).toEqual(["engine_unsupported"]);
  });

  it("shows a distillation with its teacher, which --teacher replaces", async () => {
    const folder = projectFolder({
      "config.yml": `${withSection("dataset_type: distill")}teacher: { path: Qwen/Qwen3-32B }\n`,
    });
    const { code, json } = await dryRun(folder, "--model", "spotter/nano", "--teacher", "poet@40");
    const { spec, provenance, findings, native } = json as Resolved;
    expect([code, findings.map((each) => each.code)]).toEqual([0, []]);
    expect(spec).toMatchObject({
      kind: "distill",
      teacher: { checkpoint: "poet@40", agentic: false },
      algorithm: { kind: "distill", answers: "student", klCoef: 1 },
      rollout: { maxTurns: 1 },
    });
    expect(native).toEqual({ engine: "onnx", spec });
    expect(provenance).toMatchObject({ "teacher.checkpoint": "--teacher poet@40" });
  });

  it("keeps its shape with errors, and ends with 2", async () => {
    const folder = projectFolder({ "config.yml": withSection("trainer: { num_epochs: 1, save_step: 0 }") });
    const { code, json } = await dryRun(folder);
    expect(code).toBe(2);
    expect(json).toMatchObject({
      spec: null,
      provenance: {},
      findings: [{ code: "save_step_zero", line: 1 }],
      native: null,
    });
  });

  it("prints a list for a list of models", async () => {
    const folder = projectFolder({
      ...TYPESCRIPT,
      "config.yml": withSection("model: { path: [spotter/nano, Qwen/Qwen3-8B] }"),
    });
    const { code, json } = await dryRun(folder);
    expect(code).toBe(0);
    expect((json as Resolved[]).map(({ spec }) => spec?.model)).toEqual([
      { name: "spotter/nano" },
      { name: "Qwen/Qwen3-8B" },
    ]);
  });

  it("shows people each value and whence it comes", async () => {
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const { code, out } = await runCli(["run", "-d", folder, "--dry-run"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^rollout\.promptsPerStep +4 {2}config\.yml:3$/m);
    expect(out).toMatch(/^Valid$/m);
  });
});

describe("spotter run", () => {
  it("launches the project as a script would, and gives the folder its id", async () => {
    const { url, requests } = await gym();
    const config = NANO.replace(
      "dataset_type: rl",
      "dataset_type: rl # kept\nproject_name: Sums\ndescription: Adds\norganization_id: org",
    );
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": config });
    const { code, out } = await runCli(["run", "-d", folder, "--json"], { url });
    expect(code, out).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ runs: [{ id: "run1" }], failed: [], findings: [] });
    const sent = JSON.parse(
      requests.find(({ path, method }) => method === "POST" && path === "/runs")?.body ?? "",
    ) as object;
    const [, id = ""] = /^project_id: "(.+)"$/m.exec(readFileSync(join(folder, "config.yml"), "utf8")) ?? [];
    expect(sent).toMatchObject({
      name: "Sums",
      kind: "rl",
      tags: [`project:${id}`, "organization:org"],
      adapter: { rank: 32 },
    });
    expect(readFileSync(join(folder, "config.yml"), "utf8")).toContain("dataset_type: rl # kept\n");
    expect(requests.find(({ method }) => method === "PATCH")?.body).toBe('{"notes":"Adds"}');
    const rows =
      requests
        .find(({ method, path }) => method === "PUT" && path.startsWith("/datasets/"))
        ?.body.split("\n") ?? [];
    expect(JSON.parse(rows[0] ?? "")).toMatchObject({ prompt: [{ role: "user" }], rewards: ["accuracy"] });
    // The second run keeps the id.
    await runCli(["run", "-d", folder, "--json"], { url });
    expect(readFileSync(join(folder, "config.yml"), "utf8").match(/project_id/g)).toHaveLength(1);
  });

  it("writes nothing with --no-write, and says where the metrics will be", async () => {
    const { url } = await gym();
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const { code, out } = await runCli(["run", "-d", folder, "--no-write", "--tensorboard", "/tmp/tb"], {
      url,
    });
    expect(code).toBe(0);
    expect(out).toContain("TensorBoard has its metrics in /tmp/tb/run1: tensorboard --logdir /tmp/tb\n");
    expect(readFileSync(join(folder, "config.yml"), "utf8")).toBe(NANO);
  });

  it("launches every model of a list, tells which failed, and is honest about it in the end", async () => {
    const { url, requests } = await gym("Qwen/Qwen3-8B");
    const folder = projectFolder({
      ...TYPESCRIPT,
      "config.yml": withSection("model: { path: [Qwen/Qwen3-8B, spotter/nano] }"),
    });
    const { code, out, err } = await runCli(["run", "-d", folder], { url });
    expect(code).toBe(2);
    expect(requests.filter(({ method, path }) => method === "POST" && path === "/runs")).toHaveLength(2);
    expect(out).toContain("run1 trains spotter/nano");
    expect(out).toContain("Qwen/Qwen3-8B was not launched: There is no model Qwen/Qwen3-8B.");
    expect(err).toContain("[model_not_found]");
  });

  it("launches nothing of a project that is not valid, or cannot run here", async () => {
    const { url, requests } = await gym();
    const invalid = projectFolder({ "train.jsonl": "{\n" });
    expect((await runCli(["run", "-d", invalid], { url })).code).toBe(2);
    const { code, out } = await runCli(["run", "-d", projectFolder(), "--json"], { url });
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      runs: [],
      findings: [{ code: "engine_unsupported", severity: "error" }],
    });
    expect(requests).toEqual([]);
  });

  it("goes on from a model that was trained here before", async () => {
    const { url, requests, handlers } = await gym();
    handlers["GET /runs/run1"] = () => runDetailOf();
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": withSection('model: { path: "run1@7" }') });
    expect((await runCli(["run", "-d", folder, "--no-write"], { url })).code).toBe(0);
    expect(
      JSON.parse(requests.find(({ path, method }) => method === "POST" && path === "/runs")?.body ?? ""),
    ).toMatchObject({
      model: { name: "spotter/nano" },
      startFrom: { checkpoint: "run1@7", mode: "weights" },
    });
  });

  it("keeps a run whose description could not be written down, and says so", async () => {
    const { url, handlers } = await gym();
    handlers["PATCH /runs/run1"] = (_, response) => sendError(response, 400, "invalid_input", "Too long.");
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": `description: Adds\n${NANO}` });
    const { code, out, err } = await runCli(["run", "-d", folder, "--no-write"], { url });
    expect(code).toBe(0);
    expect(out).toContain("run1 trains spotter/nano");
    expect(err).toContain("run1 has no description: Too long.");
  });

  it("leaves verbs to themselves, and says what a stray word may mean", async () => {
    const { url } = await fakeServer({ "GET /runs": () => ({ items: [] }) });
    expect((await runCli("run list --json", { url })).out).toBe("[]\n");
    expect(await runCli("run lst", { url })).toMatchObject({
      code: 2,
      err: expect.stringContaining("Did you mean list?") as string,
    });
    expect((await runCli("run --jsn", { url })).err).toContain("Did you mean --json?");
  });
});
