import type { Tracker } from "../../sdk/schema/tracker.ts";
import type { EventFiles } from "../ports/event-files.ts";
import { fileHead, rowRecords } from "./event-file.ts";
import { settingsOf, TrackerRefusal, type Place, type TrackerSink } from "./tracker-sink.ts";

/**
 * Writes an event file for a run: `<path>/<run id>/events.out.tfevents.…`. Where a kill left more than was noted, the
 * same bytes are written over it.
 */
export function tensorboardSink(
  { path }: Extract<Tracker, { kind: "tensorboard" }>,
  files: EventFiles,
): TrackerSink {
  const write = async (file: string, offset: number, bytes: Uint8Array): Promise<boolean> => {
    try {
      return await files.write(file, offset, bytes);
    } catch (error) {
      throw new TrackerRefusal(
        `could not be written: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  };
  return {
    merges: false,
    async begin({ run, spec }) {
      const seconds = String(Math.floor(run.createdAtMs / 1_000)).padStart(10, "0");
      const file = `${path.replace(/\/+$/, "")}/${run.id}/events.out.tfevents.${seconds}.${run.id}`;
      const head = fileHead(run.createdAtMs, settingsOf(spec));
      await write(file, 0, head);
      return { place: { file, bytes: head.length }, link: `tensorboard --logdir ${path}` };
    },
    async add(place, rows) {
      const { file, bytes } = placeOf(place);
      const records = rowRecords(rows);
      return (await write(file, bytes, records)) ? { file, bytes: bytes + records.length } : undefined;
    },
    // A file that no longer grows is all there is to it.
    end: () => Promise.resolve(),
  };
}

function placeOf({ file, bytes }: Place): { file: string; bytes: number } {
  return { file: String(file), bytes: Number(bytes) };
}
