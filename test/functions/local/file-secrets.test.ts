import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { FileSecrets } from "../../../functions/local/file-secrets.ts";
import { createRedactor } from "../../../functions/secrets/redactor.ts";
import { useFolder } from "./use-folder.ts";

const folder = useFolder();

it("keeps the file for its owner alone, and leaves no other", async () => {
  const path = folder("secrets.json");
  const secrets = new FileSecrets(path);
  await secrets.set("A", "value");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  chmodSync(path, 0o644);
  await secrets.list();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder())).toEqual(["secrets.json"]);
});

it("tells the log which values to hide", async () => {
  const first = new FileSecrets(folder("secrets.json"));
  expect(first.redact("is value-a")).toBe("is value-a");
  await first.set("A", "value-a");
  expect(first.redact("is value-a")).toBe("is [redacted]");
  // As after a restart: known before anybody was granted it, and still after it is removed.
  const redactor = createRedactor();
  const second = new FileSecrets(folder("secrets.json"), { redactor });
  await second.learn();
  await second.remove("A");
  expect(redactor.redact("is value-a")).toBe("is [redacted]");
});

it.each(["{", "[]", '{"v":2,"secrets":{}}', '{"v":1,"secrets":{"A":1}}'])(
  "leaves a file alone that holds %s, and tells the remedy",
  async (text) => {
    const path = folder("secrets.json");
    writeFileSync(path, text, { mode: 0o600 });
    const secrets = new FileSecrets(path);
    await expect(secrets.list()).rejects.toMatchObject({ code: "state_unreadable", where: path });
    await expect(secrets.set("A", "value")).rejects.toMatchObject({ code: "state_unreadable" });
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

it("says what is wrong with a place that cannot be written", async () => {
  writeFileSync(folder("file"), "");
  const secrets = new FileSecrets(folder("file", "secrets.json"));
  await expect(secrets.set("A", "value")).rejects.toMatchObject({ code: "state_unreadable" });
});
