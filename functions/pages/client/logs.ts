import type { LogsProps } from "../views/logs-view.ts";
import { getJson, messageOf } from "./api.ts";

const EVERY_MS = 3_000;

/** A container's last lines, asked for while someone looks at them and they may still change. */
export function followLogs(path: string, changed: () => void, mayChange: () => boolean): LogsProps {
  let timer: ReturnType<typeof setInterval> | undefined;
  const logs: LogsProps = {
    output: undefined,
    onOutput(isOpen) {
      clearInterval(timer);
      if (!isOpen) return;
      void load();
      timer = setInterval(() => {
        if (mayChange() && !document.hidden) void load();
      }, EVERY_MS);
    },
  };

  async function load(): Promise<void> {
    try {
      logs.output = (await getJson<{ lines: string[] }>(path)).lines;
    } catch (error) {
      logs.output = [messageOf(error)];
    }
    changed();
  }
  return logs;
}
