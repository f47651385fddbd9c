import type { Control } from "../control.ts";

/** Deletes every document of a partition, however many there are. */
export async function removePartition(control: Control, partition: string): Promise<void> {
  for (;;) {
    const page = await control.store.query(partition, { limit: 500 });
    for (const { key } of page.items) await control.store.delete(key);
    if (page.items.length === 0) return;
  }
}
