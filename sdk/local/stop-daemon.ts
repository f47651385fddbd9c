import { SpotterError } from "../schema/errors.ts";
import { sleep } from "../retry.ts";
import { isAlive } from "./is-alive.ts";
import type { DaemonFile } from "../schema/status.ts";

/** Longest time in which a daemon ends its containers and itself. */
const STOP_MS = 30_000;

/** Asks the daemon to end and resolves when its process is gone; another may have come up since. */
export async function stopDaemon(daemon: DaemonFile): Promise<void> {
  const response = await fetch(`${daemon.url}/shutdown`, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.adminKey}` },
    signal: AbortSignal.timeout(STOP_MS),
  });
  if (!response.ok) {
    throw new SpotterError(
      "daemon_unreachable",
      `The daemon at ${daemon.url} refused to stop: ${response.status}.`,
      {
        hint: `End it with \`kill ${daemon.pid}\`.`,
      },
    );
  }
  await response.arrayBuffer();
  const deadline = performance.now() + STOP_MS;
  while (performance.now() < deadline) {
    if (!isAlive(daemon.pid)) return;
    await sleep(20);
  }
  throw new SpotterError(
    "timeout",
    `The daemon with process id ${daemon.pid} did not end within ${STOP_MS} ms.`,
    {
      hint: `End it with \`kill ${daemon.pid}\`.`,
    },
  );
}
