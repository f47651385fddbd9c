import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Blobs } from "../../functions/aws/s3-blobs.ts";
import { blobsContract } from "../contract/blobs/suite.ts";
import { FAKE_AWS } from "../fakes/dynamo.ts";
import { onMoto } from "./moto.ts";

onMoto("blobs", (endpoint) => {
  blobsContract("S3Blobs", async () => {
    const folder = await mkdtemp(join(tmpdir(), "spotter-blobs-"));
    const bucket = `spotter-${randomUUID()}`;
    await fetch(`${endpoint()}/${bucket}`, { method: "PUT" });
    const blobs = new S3Blobs({ endpoint: endpoint(), bucket, prefix: "data", ...FAKE_AWS });
    return {
      blobs,
      localFile: async (content) => {
        const path = join(folder, "local.bin");
        await writeFile(path, content);
        return path;
      },
      dispose: async () => {
        await blobs.close();
        await rm(folder, { recursive: true });
      },
    };
  });
});
