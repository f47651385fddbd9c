import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { FileSecrets } from "../../../../functions/local/file-secrets.ts";
import { main } from "../../../../sdk/cli/main.ts";
import { runCli } from "../run-cli.ts";

const WAIT = { timeout: 20_000, interval: 20 };
const REWARDS = `import { reward } from "spotter";
export const short = reward({ weight: 0.5 }, ({ response }) => {
  console.log("judging", response.content);
  return -response.content.length;
});
export const odd = reward(({ row }) => {
  if (row.n === 2) throw new Error("no twos");
  return 1;
});
`;

describe("spotter dev", { timeout: 60_000 }, () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "spotter-dev-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    write("rewards.ts", REWARDS);
    write("train.jsonl", '{"n":1,"answer":"one"}\n{"n":2,"answer":"two words"}\n');
  });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

  it("shows scores, prints and errors with their line, and fails with --once where a row has none", async () => {
    const { code, out, err } = await runCli(["dev", "-d", folder, "--once"]);
    const lines = out.split("\n");
    expect(lines).toContain("log   | judging one");
    expect(lines.slice(-6, -1)).toEqual([
      "ROW   ANSWER     odd     short  TOTAL",
      "1     one        1       -3     -0.500",
      "2     two words  failed  -9     none",
      "mean             1       -6     -0.500",
      "error row 2: odd: it threw Error: no twos (rewards.ts:7:26) [reward_failed]",
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining("[reward_failed]")]);
  });

  it("grants the secrets that are named, no others, and hides their values", async () => {
    const home = join(folder, "home");
    const secrets = new FileSecrets(join(home, "secrets.json"));
    await secrets.set("JUDGE_KEY", "value-of-the-judge");
    await secrets.set("OTHER_KEY", "value-of-another");
    vi.stubEnv("SPOTTER_HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    write(
      "rewards.ts",
      `import { reward } from "spotter";
export const granted = reward(({ row, secrets }) => {
  console.log("has", Object.entries(secrets).join());
  if (row.n === 2) throw new Error(String(secrets.JUDGE_KEY));
  return secrets.JUDGE_KEY === "value-of-the-judge" ? 1 : 0;
});
`,
    );
    const { out, err } = await runCli(["dev", "-d", folder, "--once", "--secret", "JUDGE_KEY"]);
    expect(out).toContain("has JUDGE_KEY,[secret JUDGE_KEY]\n");
    expect(out).toContain("1     one        1        1");
    expect(out + err).toContain("it threw Error: [secret JUDGE_KEY]");
    expect(out + err).not.toContain("value-of");
    const missing = await runCli(["dev", "-d", folder, "--once", "--secret", "NONE"]);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('There is no secret "NONE"')]);
  });

  it("judges again at every save, through errors and back, until Ctrl-C", async () => {
    const out = new PassThrough();
    let text = "";
    out.on("data", (chunk: Buffer) => (text += stripVTControlCharacters(chunk.toString())));
    const stop = new AbortController();
    const ended = main(["dev", "-d", folder], { out, err: out, env: {}, signal: stop.signal });
    const shows = (part: string) => vi.waitFor(() => expect(text).toContain(part), WAIT);
    await shows("Waiting for a change");
    expect(text).toContain("1     one        1       -3     -0.500");
    text = "";
    write("rewards.ts", "export const broken = ;\n");
    await shows("rewards.ts:1:23: Unexpected");
    text = "";
    const top = `import { reward } from "spotter";\nif (Date.now() > 0) throw new Error("at the top");\n`;
    write("rewards.ts", `${top}export const a = reward(() => 1);\n`);
    await shows("at the top (rewards.ts:2:");
    text = "";
    write("helper.ts", "export const seven = 7;\n");
    write(
      "rewards.ts",
      `import { reward } from "spotter";\nimport { seven } from "./helper.ts";\nexport const a = reward(() => seven);\n`,
    );
    await shows("mean             7  7");
    text = "";
    write("helper.ts", "export const seven = 8;\n");
    await shows("mean             8  8");
    stop.abort(new Error("Interrupted."));
    expect(await ended).toBe(130);
  });

  it("stops at breakpoints when the unchanged file is saved again", async () => {
    const source = `import { reward } from "spotter";\nexport const a = reward(() => {\n  debugger;\n  return 5;\n});\n`;
    write("rewards.ts", source);
    const port = await freePort();
    const out = new PassThrough();
    let text = "";
    out.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const stop = new AbortController();
    const streams = { out, err: out, env: {}, signal: stop.signal };
    const ended = main(["dev", "-d", folder, "--inspect", String(port)], streams);
    await vi.waitFor(() => expect(text).toContain("mean             5  5"), WAIT);
    const list = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Target[];
    const target = list.find(({ id }) => id.includes("main"));
    const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
    const events: { method?: string; params?: { url?: string; sourceMapURL?: string } }[] = [];
    socket.addEventListener("message", ({ data }) => {
      const event = JSON.parse(String(data)) as (typeof events)[number];
      events.push(event);
      if (event.method === "Debugger.paused")
        socket.send(JSON.stringify({ id: 2, method: "Debugger.resume" }));
    });
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    socket.send(JSON.stringify({ id: 1, method: "Debugger.enable" }));
    const isBundle = ({ params }: (typeof events)[number]) => params?.url?.endsWith("bundle.mjs");
    await vi.waitFor(() => expect(events.some(isBundle)).toBe(true), WAIT);
    const script = events.find(isBundle)?.params;
    // Debuggers find the user's file beside the bundle, by its map.
    expect(script?.url).toContain(folder);
    expect(script?.sourceMapURL).toMatch(/^data:application\/json/);
    text = "";
    write("rewards.ts", source);
    await vi.waitFor(() => expect(text).toContain("mean             5  5"), WAIT);
    expect(events.filter(({ method }) => method === "Debugger.paused")).toHaveLength(2);
    socket.close();
    stop.abort(new Error("Interrupted."));
    expect(await ended).toBe(130);
  });

  it.each([
    ["", [], "no rewards.ts"],
    ["--dataset", ["nowhere.jsonl"], "nowhere.jsonl"],
    ["--answer-column", ["nothing"], "no text in the column nothing; it has n, answer"],
  ])("says what is missing: %s", async (option, values, message) => {
    if (option === "") rmSync(join(folder, "rewards.ts"));
    const { code, err } = await runCli([
      "dev",
      "-d",
      folder,
      "--once",
      ...(option ? [option, ...values] : []),
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});

interface Target {
  id: string;
  webSocketDebuggerUrl: string;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
