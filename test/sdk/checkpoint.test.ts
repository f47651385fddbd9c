import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Checkpoint } from "../../sdk/checkpoint.ts";
import { fakeServer } from "./fake-server.ts";
import { checkpointRecord } from "./records.ts";

function fileOf(path: string, content: string) {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path, size: Buffer.byteLength(content), sha256 };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "spotter-checkpoint-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

const files = [fileOf("model/model.safetensors", "weights"), fileOf("trainer/state.json", "{}")];
const record = checkpointRecord(7, { files });

describe("checkpoint.download", () => {
  it("copies the files, checks them and keeps what is there already", async () => {
    const { client, requests } = await fakeServer({
      "GET /checkpoints/run1@7": () => record,
      "GET /checkpoints/run1@7/files/model/model.safetensors": (_, response) => void response.end("weights"),
      "GET /checkpoints/run1@7/files/trainer/state.json": (_, response) => void response.end("{}"),
    });
    const target = join(folder(), "new");
    mkdirSync(join(target, "trainer"), { recursive: true });
    writeFileSync(join(target, "trainer", "state.json"), "{}");
    const checkpoint = await Checkpoint.get("run1@7", { client });
    await checkpoint.download(target);
    expect(readFileSync(join(target, "model", "model.safetensors"), "utf8")).toBe("weights");
    expect(requests.filter(({ path }) => path.includes("trainer"))).toEqual([]);
  });

  it("fetches a file again when it breaks off", async () => {
    let tries = 0;
    const { client } = await fakeServer({
      "GET /checkpoints/run1@7/files/model/model.safetensors": (_, response) => {
        if (++tries > 1) return void response.end("weights");
        response.writeHead(200, { "content-length": "7" });
        response.write("wei");
        setTimeout(() => response.destroy(), 5);
      },
      "GET /checkpoints/run1@7/files/trainer/state.json": (_, response) => void response.end("{}"),
    });
    const target = folder();
    await new Checkpoint(client, record).download(target);
    expect(readFileSync(join(target, "model", "model.safetensors"), "utf8")).toBe("weights");
    expect(tries).toBe(2);
  });

  it("passes on that the folder cannot be written", async () => {
    const { client, requests } = await fakeServer({ "*": (_, response) => void response.end("weights") });
    const target = join(folder(), "file");
    writeFileSync(target, "");
    await expect(new Checkpoint(client, record).download(target)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("ENOTDIR") as string,
    });
    expect(requests).toEqual([]);
  });

  it("leaves nothing of a file that arrives damaged", async () => {
    const { client } = await fakeServer({
      "GET /checkpoints/run1@7/files/model/model.safetensors": (_, response) => void response.end("weightz"),
    });
    const target = folder();
    await expect(new Checkpoint(client, record).download(target)).rejects.toMatchObject({
      code: "blob_corrupt",
    });
    expect(readdirSync(join(target, "model"))).toEqual([]);
  });
});
