import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withSection } from "../../config/project-folder/check.ts";
import { projectFolder } from "../../config/project-folder/folder.ts";
import { fakeServer, sendError } from "../../fake-server.ts";
import { endpointRecord, evalRecordOf, HASH } from "../../records.ts";
import { runCli } from "../run-cli.ts";

const TYPESCRIPT = {
  "rewards.py": undefined,
  "rewards.ts": `import { reward } from "spotter";\nexport const accuracy = reward(() => 1);\n`,
};
const NANO = withSection("model: { path: spotter/nano }\nproject_name: sums\nrollout: { max_turns: 3 }");
const score = { mean: 0.5, low: 0.25, high: 0.75, n: 4 };
const ended = evalRecordOf({ state: "succeeded", done: 4, total: 4, score, passes: { 1: score, 4: score } });

/** A control plane that knows one endpoint by name, launches others, and evaluates at once. */
async function gym(known = "base") {
  return fakeServer({
    "*": ({ method, path }, response) => {
      if (method === "PUT" && path.startsWith("/datasets/"))
        return { v: 1, sha256: HASH, rows: 4, bytes: 1, createdAtMs: 1 };
      if (method === "PUT")
        return { v: 1, sha256: HASH, name: "rewards.ts", exports: [], bytes: 1, createdAtMs: 1 };
      if (path === `/v1/models/${known}`) return { id: known };
      if (path === "/endpoints" && method === "GET") return { items: [] };
      if (path === "/endpoints") return endpointRecord({ name: "nano" });
      if (path === "/endpoints/nano") return endpointRecord({ name: "nano", state: "ready" });
      return sendError(response, 404, "not_found", `No ${path}.`);
    },
    "POST /evals": () => evalRecordOf(),
    "GET /evals/eval1": () => ended,
  });
}

describe("spotter eval -d", () => {
  it("is not held back by a batch that only a training needs", async () => {
    const { url } = await gym();
    const config = NANO.replace("batch_size: 4", "batch_size: 32");
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": config });
    expect(await runCli(["eval", "-d", folder, "--model", "base"], { url })).toMatchObject({ code: 0 });
    expect(await runCli(["run", "-d", folder], { url })).toMatchObject({
      code: 2,
      out: expect.stringContaining("rows_few") as string,
    });
  });

  it("names the temperature of a pass@k that has one of its own", async () => {
    const asked = evalRecordOf({ state: "succeeded", passes: { 1: score, 4: score } });
    const spec = { ...asked.spec, passAt: [{ k: 1, temperature: 0 }, { k: 4 }] };
    const { url } = await fakeServer({ "GET /evals/eval1": () => ({ ...asked, spec }) });
    const { out } = await runCli(["eval", "get", "eval1"], { url });
    expect(out).toMatch(/^pass@1 \(temperature 0\) +0\.50/m);
    expect(out).toMatch(/^pass@4 +0\.50/m);
  });

  it("plays all rows as the project's training would, and gives the folder its id (A7)", async () => {
    const { requests, url } = await gym();
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const words = ["-d", folder, "--model", "base", "--pass", "1@0,4", "rollout.max_turns=2"];
    const { code, out, err } = await runCli(["eval", ...words], { url });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const sent = requests.find(({ path, method }) => method === "POST" && path === "/evals");
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({
      endpoint: "base",
      name: "sums",
      dataset: { rows: 4, name: "train.jsonl" },
      rewards: { timeoutMs: 60_000 },
      rollout: { maxTurns: 2, terminationPolicy: "last_tool", includeThinking: false },
      passAt: [{ k: 1, temperature: 0 }, { k: 4 }],
      samplesPerRow: 4,
    });
    expect(out).toMatch(
      /project_id \S+ is written into config\.yml[^]*score +0\.50 \[0\.25, 0\.75\] n=4[^]*pass@4/,
    );
    expect(readFileSync(join(folder, "config.yml"), "utf8")).toMatch(/^project_id: "/);
  });

  it("writes nothing with --no-write, and leaves with --no-wait", async () => {
    const { requests, url } = await gym();
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    const { code, out } = await runCli(["eval", "-d", folder, "--model", "base", "--no-write", "--no-wait"], {
      url,
    });
    expect(code).toBe(0);
    expect(out).toContain("eval1 evaluates base");
    expect(readFileSync(join(folder, "config.yml"), "utf8")).toBe(NANO);
    expect(requests.some(({ path }) => path === "/evals/eval1")).toBe(false);
  });

  it("has a model served for a while, and stops nothing that others may use by then", async () => {
    const { requests, url } = await gym();
    const folder = projectFolder({ ...TYPESCRIPT, "config.yml": NANO });
    expect((await runCli(["eval", "-d", folder, "--no-write", "--json"], { url })).code).toBe(0);
    const asked = requests
      .filter(({ path }) => path.startsWith("/endpoints"))
      .map(({ method, path }) => `${method} ${path}`);
    expect(asked.slice(-2)).toEqual(["POST /endpoints", "GET /endpoints/nano"]);
    const [sent] = requests.filter(({ path, method }) => path === "/endpoints" && method === "POST");
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({ implicit: true });
  });

  it.each([
    ["rewards.py without the grant", {}, [], /nobody allowed it/],
    [
      "fewer answers than pass@k needs",
      TYPESCRIPT,
      ["--pass", "8", "--samples", "2"],
      /at least k answers to each row/,
    ],
    ["a model that others serve", TYPESCRIPT, ["--model", "gpt-5-nano"], /not served here/],
    ["a slip of the pen", TYPESCRIPT, ["rollout.max_turn=2"], /max_turns/],
    ["a verb that is none", TYPESCRIPT, ["lst"], /Unknown command 'lst'. Did you mean list/],
  ])("refuses %s", async (_, files, words, expected) => {
    const { url } = await gym();
    const folder = projectFolder({ ...files, "config.yml": NANO });
    const at = words[0]?.startsWith("-") === false ? words : ["--model", "base", ...words];
    const { code, out, err } = await runCli(["eval", "-d", folder, "--no-write", ...at], { url });
    expect(code).toBe(2);
    expect(out + err).toMatch(expected);
  });

  it("does not judge rows of another kind", async () => {
    const { url } = await gym();
    const sft =
      "dataset_type: sft\nmodel: { path: spotter/nano }\ndata: { batch_size: 1 }\ntrainer: { num_epochs: 1 }\n";
    const rows = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n`;
    const folder = projectFolder({ "rewards.py": undefined, "config.yml": sft, "train.jsonl": rows });
    const { code, out } = await runCli(["eval", "-d", folder, "--model", "base", "--json"], { url });
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      eval: null,
      findings: [{ code: "engine_unsupported", path: "dataset_type" }],
    });
  });
});

describe("spotter eval compare", () => {
  it("prints differences with their intervals, and says what they mean", async () => {
    const compared = { first: 0.5, second: 0.75, difference: { mean: 0.25, low: 0.05, high: 0.4, n: 9 } };
    const { url } = await fakeServer({
      "GET /evals/eval1": () => ended,
      "GET /evals/eval1/compare/b": () => ({
        ...{ first: "eval1", second: "b", rows: 9, better: 5, worse: 3, same: 1 },
        ...{ score: compared, scores: { exact: compared }, passes: { 4: compared } },
        notes: ["They were judged by different rewards."],
      }),
    });
    const { code, out } = await runCli(["eval", "compare", "eval1", "b"], { url });
    expect(code).toBe(0);
    expect(out).toMatch(/pass@4 +0\.500 +0\.750 +\+0\.250 \[\+0\.050, \+0\.400\]/);
    expect(out).toContain("9 rows that both judged: 5 better, 3 worse, 1 the same.");
    expect(out).toContain("b is better: the 95 % interval of the difference lies above 0.");
    expect(out).toContain("Note: They were judged by different rewards.");
  });
});
