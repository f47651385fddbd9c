import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Client, Dataset, Endpoint, Eval, Key, recipes, SpotterError, TrainConfig } from "../../sdk/index.ts";
import { ownHome } from "./home.ts";

const bin = fileURLToPath(new URL("../../sdk/cli/bin.ts", import.meta.url));
const rewards = { file: new URL("../fixtures/sdk/leaky-rewards.ts", import.meta.url), maxMissingShare: 0.9 };
// With a quote and a space: it looks different inside JSON and inside a URL.
const VALUE = 'Zebra-7f3a9c "Quartz" & 41';
const FORMS = [VALUE, JSON.stringify(VALUE).slice(1, -1), encodeURIComponent(VALUE), "Zebra-7f3a9c"];
const prompts = ["rain", "snow"].map((topic) => `Write a haiku about ${topic}.`);
const dataset = Dataset.fromArray(prompts.map((prompt) => ({ prompt })));

/** Files below a folder that hold one of the forms, but for those that are named. */
function filesWith(folder: string, forms: string[], except: string[] = []): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !except.includes(path))
    .filter((path) => {
      const bytes = contentOf(path);
      return forms.some((form) => bytes.includes(form));
    });
}

/** Nothing for a file that was a temporary one and is gone. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** Processes of this machine that were started with one of the forms, by argument or variable. */
function processesWith(forms: string[]): string[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) =>
    ["cmdline", "environ"].some((file) => {
      try {
        const bytes = readFileSync(`/proc/${pid}/${file}`);
        return forms.some((form) => bytes.includes(form));
      } catch {
        return false; // Gone, or not ours.
      }
    }),
  );
}

async function setSecret(value: string): Promise<void> {
  const child = spawn(process.execPath, ["--no-warnings", bin, "secret", "set", "LEAKED"], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.stdin.end(value);
  expect((await once(child, "exit"))[0]).toBe(0);
}

async function answersOf(paths: string[]): Promise<string> {
  const { url, key } = await Client.default().connection();
  const headers = { authorization: `Bearer ${key ?? ""}` };
  const texts = paths.map(async (path) => {
    const response = await fetch(url + path, { headers });
    expect([path, response.status]).toEqual([path, 200]);
    return response.text();
  });
  return (await Promise.all(texts)).join("\n");
}

describe("a secret that a reward prints, throws and returns (72)", () => {
  const { home } = ownHome();

  it("is found in its file, and nowhere else that is stored, answered or listed", async () => {
    await setSecret(VALUE);
    const recipe = recipes.grpo({
      steps: 3,
      promptsPerStep: 2,
      samplesPerPrompt: 8,
      maxTokens: 6,
      saveEvery: 3,
    });
    const config = { model: "spotter/nano", dataset, rewards, recipe, secrets: ["LEAKED"] };
    // Before the run: the reward begins to throw after a while.
    const endpoint = await Endpoint.launch("spotter/nano");
    const evaluation = await new Eval({
      endpoint: endpoint.name,
      dataset,
      rewards,
      secrets: ["LEAKED"],
    }).launch();
    const run = await new TrainConfig({ ...config, name: `about ${VALUE}` }).launch();
    const seen: string[] = [];
    for await (const event of run.events()) {
      seen.push(JSON.stringify(event), ...processesWith(FORMS));
    }
    const { run: ended } = await run.result();
    await evaluation.result();

    const paths = ["", "/events", "/rollouts?step=1", "/rollouts", "/logs", "/checkpoints"];
    const answers = await answersOf([
      ...paths.map((path) => `/runs/${ended.id}${path}`),
      ...["/runs", "/evals", `/evals/${evaluation.id}/rows`, `/evals/${evaluation.id}/logs`],
      ...["/endpoints", `/endpoints/${endpoint.name}/logs`, "/secrets", "/status", "/datasets"],
    ]);
    const told = [...seen, answers].join("\n");
    // What was replaced, was there: each of the three ways out was taken.
    expect(ended.name).toBe("about [redacted]");
    expect(told).toContain("judged with [redacted]");
    expect(told).toContain("cannot work with [secret LEAKED]");
    expect(told).toContain("it returned the text");
    expect(readFileSync(join(home, "daemon.log"), "utf8")).toContain("the secret is [secret LEAKED]");
    for (const form of FORMS) expect(told).not.toContain(form);
    expect(processesWith(FORMS)).toEqual([]);
    const own = join(home, "secrets.json");
    expect(filesWith(home, FORMS, [own])).toEqual([]);
    expect(filesWith(home, FORMS)).toEqual([own]);
  });

  it("is not told by the error that refuses its reward, nor by one that names it in a spec", async () => {
    const always = join(home, "always.ts");
    writeFileSync(
      always,
      'import { reward } from "spotter";\nexport const no = reward(({ secrets }) => { throw new Error(`no ${secrets["LEAKED"]}`); });\n',
    );
    const config = {
      model: "spotter/nano",
      dataset,
      recipe: recipes.grpo({ steps: 1 }),
      secrets: ["LEAKED"],
    };
    const error = await new TrainConfig({ ...config, rewards: always })
      .launch()
      .catch((thrown: unknown) => thrown);
    expect(SpotterError.is(error) && error.code).toBe("reward_failed");
    expect(String(error)).toContain("no [secret LEAKED]");
    for (const form of FORMS) expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(form);
  });

  it("keeps keys as hashes only", async () => {
    const { key, record } = await Key.create({ name: "hashed", scope: "write" });
    await new Client({ url: (await Client.default().connection()).url, key }).command("GET", "/runs");
    await Key.revoke(record.id);
    expect(filesWith(home, [key, key.slice("sk-spotter-".length)])).toEqual([]);
  });
});
