import type { DeletedModel } from "../../sdk/schema/model.ts";
import type { Control } from "../control.ts";
import { usedWeights } from "../cleanup/references.ts";
import { getModel, manifestKey, modelBlobs, modelKey } from "./models.ts";

/**
 * Takes a name away. Its weights go with it, unless something else still needs them: then they stay until
 * `cleanup` finds that nothing does. What serves or trains them goes on.
 *
 * @throws SpotterError `model_not_found`
 */
export function deleteModel(control: Control, name: string): Promise<DeletedModel> {
  return control.gate.remove(async () => {
    const { sha256, bytes } = await getModel(control, name);
    await control.store.delete(modelKey(name));
    const keptFor = (await usedWeights(control)).get(sha256);
    if (keptFor !== undefined) return { name, sha256, bytes: 0, keptFor };
    await removeWeights(control, sha256);
    return { name, sha256, bytes };
  });
}

/** The manifest first: what it does not name any more, nobody asks for. */
export async function removeWeights(control: Control, sha256: string): Promise<void> {
  await control.store.delete(manifestKey(sha256));
  for (const { key } of await control.blobs.list(modelBlobs(sha256))) await control.blobs.delete(key);
}
