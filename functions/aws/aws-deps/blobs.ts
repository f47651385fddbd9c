import * as z from "zod/mini";
import type { Blobs } from "../../ports/blobs.ts";
import { S3Blobs } from "../s3-blobs.ts";
import { adapter } from "./adapter.ts";

/** The folder of the stack's bucket that holds blobs; programs that containers fetch lie beside it. */
const PREFIX = "blobs";

/** The Blobs of the stack's bucket. */
export const blobs = adapter<Blobs, { SPOTTER_BUCKET: z.ZodMiniString }>({
  variables: { SPOTTER_BUCKET: z.string().check(z.minLength(1)) },
  open: ({ SPOTTER_BUCKET: bucket }) => new S3Blobs({ bucket, prefix: PREFIX }),
});
