import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Client } from "../client.ts";
import { downloadFile } from "../download.ts";
import { downloadHubFile } from "../hub/download-hub-file.ts";
import { openHub } from "../hub/hub.ts";
import { modelRepo } from "../hub/push-model.ts";
import { packageRoot, spotterHome } from "../local/home.ts";
import { makeFolder } from "../schema/files/make-folder.ts";
import { modelRecord } from "../schema/model.ts";

const TOKENIZER_FILE = /^(tokenizer|tokenizer_config)\.json$|^chat_template\.jinja$/;

/**
 * A folder with the tokenizer of a model: of a folder, of `spotter/nano`, of a repository (`hf:owner/name`),
 * or of stored weights. Weights are not fetched.
 */
export async function tokenizerFolder(
  model: string,
  client: () => Client,
  signal: AbortSignal | undefined,
): Promise<string> {
  if (/^[.~/]/.test(model)) return resolve(model.replace(/^~(?=\/|$)/, homedir()));
  if (model === "spotter/nano") return join(packageRoot(), "engine", "models", "nano");
  if (model.startsWith("hf:")) {
    const repo = await modelRepo(model, signal);
    const hub = openHub({ signal });
    const wanted = repo.files.filter(({ path }) => TOKENIZER_FILE.test(path));
    const paths = await Promise.all(wanted.map((file) => downloadHubFile(hub, repo, file)));
    return dirname(paths[0] ?? resolve(model));
  }
  const path = `/models/${model.split("/").map(encodeURIComponent).join("/")}`;
  const record = await client().request(modelRecord, "GET", path, { signal });
  const folder = join(spotterHome(), "cache", "tokenizers", record.sha256);
  await makeFolder(folder, 0o700);
  for (const file of record.files.filter((each) => TOKENIZER_FILE.test(each.path))) {
    if (existsSync(join(folder, file.path))) continue;
    const url = `/models/${record.sha256}/files/${encodeURIComponent(file.path)}`;
    await downloadFile(folder, file, (read) => client().receive("GET", url, { signal }, read));
  }
  return folder;
}
