import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getUserCode } from "../../../functions/user-code/records.ts";
import { putUserCode, userCodeBytes } from "../../../functions/user-code/user-code.ts";
import { openDeps, type OpenDeps } from "./open-deps.ts";

const code = Buffer.from(`export default { fetch: () => Response.json({ exports: [], others: [] }) };`);
const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("user code", () => {
  let open: OpenDeps;
  beforeAll(() => {
    open = openDeps();
  });
  afterAll(() => open.close());

  it("is kept under its hash with what it exports", async () => {
    const { code: ref } = await open.upload(
      `import { reward } from "spotter"; export const a = reward(() => 1);`,
    );
    const record = await getUserCode(open.deps, ref.sha256);
    expect(record).toMatchObject({
      v: 1,
      sha256: ref.sha256,
      name: "rewards.ts",
      exports: [{ name: "a", kind: "reward", weight: 1, precondition: false }],
    });
    const bytes = await userCodeBytes(open.deps, ref.sha256);
    expect([hash(bytes), bytes.byteLength]).toEqual([ref.sha256, record.bytes]);
  });

  it("is not loaded again when it is known", async () => {
    const first = await putUserCode(open.deps, hash(code), code, "first.ts");
    expect(await putUserCode(open.deps, hash(code), code, "second.ts")).toEqual(first);
  });

  it("is refused under another hash", async () => {
    await expect(putUserCode(open.deps, "0".repeat(64), code, "a.ts")).rejects.toMatchObject({
      code: "invalid_input",
    });
  });

  it("is not kept if it does not load", async () => {
    const broken = Buffer.from(`throw new Error("no");`);
    await expect(putUserCode(open.deps, hash(broken), broken, "a.ts")).rejects.toMatchObject({
      code: "user_code_invalid",
    });
    await expect(getUserCode(open.deps, hash(broken))).rejects.toMatchObject({ code: "not_found" });
    expect(await open.deps.blobs.head(`user-code/${hash(broken)}`)).toBeUndefined();
  });

  it("says so when the bundle is gone", async () => {
    const { code: ref } = await open.upload(
      `import { reward } from "spotter"; export const b = reward(() => 2);`,
    );
    await open.deps.blobs.delete(`user-code/${ref.sha256}`);
    await expect(userCodeBytes(open.deps, ref.sha256)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("rewards.ts") as string,
    });
  });
});
