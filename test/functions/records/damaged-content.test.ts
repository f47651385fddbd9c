import { writeFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { userCodeBytes } from "../../../functions/user-code/user-code.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { CODE, CODE_SHA, DATASET, DATASET_SHA, preparedSpec } from "../../fakes/run-spec.ts";

it("is never used, counts as absent, and is mended by whoever sends it again", async () => {
  const plane = await testPlane({ onEnd: onTestFinished });
  await preparedSpec(plane);
  const { blobs } = plane.control;
  const content = [
    { path: `/datasets/${DATASET_SHA}`, key: `datasets/${DATASET_SHA}.jsonl`, body: DATASET },
    { path: `/user-code/${CODE_SHA}`, key: `user-code/${CODE_SHA}`, body: CODE },
  ];
  for (const { path, key, body } of content) {
    expect((await plane.call("GET", path)).status).toBe(200);
    writeFileSync(blobs.location(key), body.replace("e", "E"));
    expect((await plane.call("GET", path)).status).toBe(404);
  }
  await expect(userCodeBytes(plane.control, CODE_SHA)).rejects.toMatchObject({
    code: "blob_corrupt",
    hint: expect.stringContaining("again") as string,
  });
  for (const { path, key, body } of content) {
    await plane.json("PUT", path, body);
    expect((await plane.call("GET", path)).status).toBe(200);
    expect(new TextDecoder().decode(await blobs.bytes(key))).toBe(body);
  }
});
