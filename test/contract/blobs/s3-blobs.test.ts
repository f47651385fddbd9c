import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Blobs } from "../../../functions/aws/s3-blobs.ts";
import { FAKE_AWS, fakeS3 } from "../../fakes/s3.ts";
import { blobsContract } from "./suite.ts";

blobsContract("S3Blobs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spotter-blobs-"));
  const s3 = await fakeS3();
  const { endpoint, bucket } = s3;
  const blobs = new S3Blobs({ endpoint, bucket, prefix: "data", ...FAKE_AWS });
  return {
    blobs,
    localFile: async (content) => {
      const path = join(folder, "local.bin");
      await writeFile(path, content);
      return path;
    },
    dispose: async () => {
      await blobs.close();
      await s3.close();
      await rm(folder, { recursive: true });
    },
  };
});
