import { expect, it, onTestFinished } from "vitest";
import type { RunDetail } from "../../../sdk/schema/run.ts";
import type { Status } from "../../../sdk/schema/status.ts";
import { testPlane } from "../../fakes/control-plane.ts";
import { preparedSpec } from "../../fakes/run-spec.ts";

it("counts runs by state, those that have ended too, and archived ones apart", async () => {
  const plane = await testPlane({
    onEnd: onTestFinished,
    firstState: { state: "waiting", reason: "capacity" },
  });
  const spec = await preparedSpec(plane);
  const ids: string[] = [];
  for (let count = 0; count < 4; count++)
    ids.push((await plane.json<RunDetail>("POST", "/runs", spec)).run.id);
  for (const id of ids.slice(0, 3)) await plane.json("POST", `/runs/${id}/cancel`);
  await plane.reconciler.settle();
  await plane.json("PATCH", `/runs/${ids[0]}`, { archived: true });
  const { activeRuns, runs, archivedRuns } = await plane.json<Status>("GET", "/status");
  expect({ activeRuns, runs, archivedRuns }).toEqual({
    activeRuns: 1,
    runs: { provisioning: 1, cancelled: 2 },
    archivedRuns: 1,
  });
});
