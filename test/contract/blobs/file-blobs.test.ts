import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileBlobs } from "../../../functions/local/file-blobs.ts";
import { blobsContract } from "./suite.ts";

blobsContract("FileBlobs", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spotter-blobs-"));
  return {
    blobs: new FileBlobs(join(folder, "blobs")),
    localFile: async (content) => {
      const path = join(folder, "local.bin");
      await writeFile(path, content);
      return path;
    },
    dispose: () => rm(folder, { recursive: true }),
  };
});
