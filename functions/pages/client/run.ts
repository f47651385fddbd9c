import { weightsText } from "../../../sdk/schema/checkpoint-weights.ts";
import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import type { Run } from "../../../sdk/schema/run.ts";
import type { RunNews } from "../views/news.ts";
import type { RolloutChoice, ShownRollouts } from "../views/rollouts-model.ts";
import { applyEvents, createRunModel } from "../views/run-model.ts";
import { hasEnded, runView, type RunAction } from "../views/run-view.ts";
import { getJson, messageOf, post } from "./api.ts";
import { createCharts } from "./charts.ts";
import { follow } from "./live.ts";
import { followLogs } from "./logs.ts";
import { mount } from "./mount.ts";

const TICK_MS = 1_000;

export function startRun(root: HTMLElement, id: string): void {
  const path = `/ui/api/runs/${encodeURIComponent(id)}`;
  const model = createRunModel();
  const charts = createCharts(root, model);
  let lastSeq = 0;
  let run: Run | undefined;
  let checkpoints: Checkpoint[] = [];
  let launching: string | undefined;
  let problem: string | undefined;
  let rollouts: ShownRollouts | undefined;
  let rolloutsProblem: string | undefined;
  let choice: RolloutChoice = { sort: "best" };
  let isFollowing = true;
  let showAll = false;
  let asked = 0;

  const logs = followLogs(
    `${path}/logs`,
    () => changed(),
    () => run === undefined || !hasEnded(run),
  );
  const changed = mount(root, view, () => charts.draw());

  follow<RunNews>(
    () => `${path}/news?after=${lastSeq}`,
    (news) => {
      // After a reconnection the first events may be ones that are here already.
      const events = news.events.filter(({ seq }) => seq > lastSeq);
      lastSeq = events.at(-1)?.seq ?? lastSeq;
      const [before, newestBefore] = [model.checkpoints, model.rolloutSteps.at(-1)];
      applyEvents(model, events);
      run = news.run;
      // That weights are there, or will not be, is told by a line of the log.
      const mayHaveWeights = events.length > 0 && checkpoints.some((each) => weightsText(each) !== undefined);
      if (model.checkpoints !== before || mayHaveWeights) void loadCheckpoints();
      const newest = model.rolloutSteps.at(-1);
      if (isFollowing && newest !== undefined && newest !== newestBefore) void loadRollouts(newest);
      changed();
      return news.done;
    },
  );
  setInterval(() => run !== undefined && !hasEnded(run) && changed(), TICK_MS);

  function view() {
    if (run === undefined) throw new Error("The view was asked for before the first news.");
    return runView({
      run,
      model,
      checkpoints,
      launching,
      problem,
      nowMs: Date.now(),
      logs,
      rollouts: {
        steps: model.rolloutSteps,
        shown: rollouts,
        choice,
        follow: isFollowing,
        showAll,
        problem: rolloutsProblem,
        onStep(step) {
          isFollowing = false;
          void loadRollouts(step);
        },
        onFollow(value) {
          isFollowing = value;
          const newest = model.rolloutSteps.at(-1);
          if (value && newest !== undefined) void loadRollouts(newest);
          changed();
        },
        onChoice(value) {
          choice = value;
          changed();
        },
        onShowAll() {
          showAll = true;
          changed();
        },
      },
      onChat: (checkpoint) => void chat(checkpoint),
      onAction: (action) => void act(action),
    });
  }

  async function loadRollouts(step: number): Promise<void> {
    const mine = ++asked;
    try {
      const loaded = await getJson<ShownRollouts>(`${path}/rollouts?step=${step}`);
      // Whoever clicks fast gets what was clicked last.
      if (mine === asked) [rollouts, rolloutsProblem] = [loaded, undefined];
    } catch (error) {
      if (mine === asked) rolloutsProblem = messageOf(error);
    }
    changed();
  }

  async function loadCheckpoints(): Promise<void> {
    try {
      checkpoints = (await getJson<{ items: Checkpoint[] }>(`${path}/checkpoints`)).items;
    } catch (error) {
      problem = messageOf(error);
    }
    changed();
  }

  async function chat(checkpoint: Checkpoint): Promise<void> {
    [launching, problem] = [checkpoint.id, undefined];
    changed();
    try {
      const { name } = await post<Endpoint>(
        `/ui/api/checkpoints/${encodeURIComponent(checkpoint.id)}/endpoint`,
      );
      location.assign(`/ui/endpoints/${encodeURIComponent(name)}`);
    } catch (error) {
      problem = messageOf(error);
    }
    launching = undefined;
    changed();
  }

  async function act(action: RunAction): Promise<void> {
    if (action === "cancel" && !confirm("Save a checkpoint and end this run?")) return;
    problem = undefined;
    try {
      run = await post<Run>(`${path}/${action}`);
    } catch (error) {
      problem = messageOf(error);
    }
    changed();
  }
}
