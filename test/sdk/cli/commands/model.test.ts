import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ModelRecord } from "../../../../sdk/schema/model.ts";
import { ADMIN_KEY, testPlane } from "../../../fakes/control-plane.ts";
import { COMMIT, cutOff, fakeHub, type FakeHub } from "../../../fakes/hub.ts";
import { listening } from "../../../fakes/listening.ts";
import { runCli, type CliResult } from "../run-cli.ts";

const NAME = "acme/tiny";
const files = {
  "README.md": "#",
  "config.json": "{}",
  "tokenizer.json": '{"t":1}',
  "tokenizer_config.json": "{}",
  "model.safetensors": "w".repeat(5_000),
  "consolidated.safetensors": "the same again",
  "modeling_tiny.py": "import os",
  "pytorch_model.bin": "pickle",
};

async function gym(): Promise<{ hub: FakeHub; cli: (line: string) => Promise<CliResult> }> {
  const hub = await fakeHub({ [NAME]: { files } });
  const plane = await testPlane({ onEnd: onTestFinished });
  const url = await listening(plane, onTestFinished);
  return { hub, cli: (line) => runCli(line, { url, key: ADMIN_KEY }) };
}

function modelFolder(names: readonly (keyof typeof files)[]): string {
  const folder = mkdtempSync(join(tmpdir(), "spotter-push-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of names) writeFileSync(join(folder, name), files[name]);
  return folder;
}

describe("spotter model", () => {
  it("pulls weights, tokenizer and config once; after that no hub is asked", async () => {
    const { hub, cli } = await gym();
    let cuts = 0;
    hub.interfere = ({ path, range }, response, file) => {
      if (!path.endsWith("model.safetensors") || file === undefined || cuts++ > 0) return false;
      cutOff(response, file, range, 2_000);
      return true;
    };
    const pulled = await cli(`model pull hf:${NAME} --json`);
    const record = JSON.parse(pulled.out) as ModelRecord;
    expect(record.files.map(({ path }) => path)).toEqual([
      "config.json",
      "model.safetensors",
      "tokenizer.json",
      "tokenizer_config.json",
    ]);
    expect(record).toMatchObject({ name: NAME, source: { repo: NAME, commit: COMMIT } });
    expect(hub.requests.map(({ path, range }) => [path.split("/").at(-1), range])).toContainEqual([
      "model.safetensors",
      "bytes=2000-4999",
    ]);
    const kept = join(process.env.SPOTTER_HOME ?? "", "cache", "files");
    expect(
      readdirSync(kept, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()),
    ).toEqual([]);
    await hub.close();
    const listed = await cli("model list");
    expect(listed.out).toContain(`${NAME}  `);
    expect(listed.out).toContain(`${NAME}@0123456`);
    const launched = await cli(`endpoint launch ${NAME} --no-wait --json`);
    expect(JSON.parse(launched.out)).toMatchObject({ model: { name: NAME, revision: record.sha256 } });
  });

  it("pushes a folder under a name, and replaces it only on purpose", async () => {
    const { cli } = await gym();
    const folder = modelFolder(["config.json", "tokenizer.json", "model.safetensors", "modeling_tiny.py"]);
    const pushed = await cli(`model push ${folder} --name mine`);
    expect(pushed.err).toContain("upload model.safetensors");
    expect(pushed.out).toBe("mine is stored: 3 files, 0 MiB.\nTry: spotter endpoint launch mine\n");
    expect((await cli(`model push ${folder} --name mine`)).err).toBe("");
    writeFileSync(join(folder, "model.safetensors"), "other");
    expect(await cli(`model push ${folder} --name mine`)).toMatchObject({
      code: 2,
      err: expect.stringContaining("[conflict]") as string,
    });
    expect((await cli(`model push ${folder} --name mine --replace`)).code).toBe(0);
  });

  it("pushes a GGUF file, and of a folder that has both only the safetensors", async () => {
    const { cli } = await gym();
    const folder = modelFolder(["config.json", "tokenizer.json", "model.safetensors"]);
    writeFileSync(join(folder, "model (1).gguf"), "weights");
    const paths = async (line: string) =>
      (JSON.parse((await cli(line)).out) as ModelRecord).files.map(({ path }) => path);
    expect(await paths(`model push ${folder} --name both --json`)).not.toContain("model--1-.gguf");
    renameSync(join(folder, "model (1).gguf"), join(folder, "model@1.gguf"));
    expect(await paths(`model push ${folder}/model@1.gguf --name small --json`)).toEqual(["model-1.gguf"]);
    expect((await cli("model list")).out).toContain("GGUF file");
    expect((await cli(`model push ${folder}/none.gguf --name x`)).err).toContain("[model_not_found]");
  });

  it("deletes a name, and says why weights stay", async () => {
    const { cli } = await gym();
    const folder = modelFolder(["config.json", "tokenizer.json", "model.safetensors"]);
    for (const name of ["mine", "twin"]) await cli(`model push ${folder} --name ${name}`);
    expect((await cli("model delete mine")).out).toBe(
      "mine is deleted; its weights stay, because the name twin means it too.\n",
    );
    expect((await cli("model delete twin")).out).toMatch(/^twin is deleted: [\d.]+ MiB are free\.\n$/);
    expect((await cli("model delete twin")).err).toContain("[model_not_found]");
  });

  it("says what is wrong with a source", async () => {
    const { cli } = await gym();
    const codes = async (line: string) => /\[(\w+)\]/.exec((await cli(line)).err)?.[1];
    expect(await codes(`model pull ${NAME}`)).toBe("invalid_input");
    expect(await codes("model pull hf:no/such")).toBe("model_not_found");
    expect(await codes("model push /nowhere --name x")).toBe("model_not_found");
    expect(await codes(`model push ${modelFolder(["config.json"])}`)).toBe("invalid_input");
    expect(await codes(`model push ${modelFolder(["config.json"])} --name x`)).toBe("model_corrupt");
  });

  it("goes on where a download of a process that is gone ended", async () => {
    const { hub, cli } = await gym();
    const folder = join(
      process.env.SPOTTER_HOME ?? "",
      "cache/files",
      new URL(hub.url).host.replace(":", "_"),
      "models",
      NAME,
      COMMIT,
    );
    const { mkdirSync } = await import("node:fs");
    mkdirSync(folder, { recursive: true });
    // No process has this id: it is above the kernel's largest.
    writeFileSync(
      join(folder, "model.safetensors.99999999.part"),
      files["model.safetensors"].slice(0, 4_000),
    );
    expect((await cli(`model pull hf:${NAME}`)).code).toBe(0);
    expect(hub.requests.find(({ path }) => path.endsWith("/model.safetensors"))?.range).toBe("bytes=4000-");
    expect(existsSync(join(folder, "model.safetensors.99999999.part"))).toBe(false);
  });
});
