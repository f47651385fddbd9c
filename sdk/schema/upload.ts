import * as z from "zod/mini";

/** Where to PUT exactly the announced bytes, past the control plane: `headers` go along, and no key does. */
export const directUpload = z.object({ url: z.string(), headers: z.record(z.string(), z.string()) });
export type DirectUpload = z.infer<typeof directUpload>;
