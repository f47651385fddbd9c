import * as z from "zod/mini";
import type { Store } from "../../ports/store.ts";
import { DynamoStore } from "../dynamo-store.ts";
import { adapter } from "./adapter.ts";

/** The Store of the stack's table. */
export const store = adapter<Store, { SPOTTER_TABLE: z.ZodMiniString }>({
  variables: { SPOTTER_TABLE: z.string().check(z.minLength(1)) },
  open: ({ SPOTTER_TABLE: table }) => new DynamoStore({ table }),
});
