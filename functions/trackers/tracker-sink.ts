import type { Run } from "../../sdk/schema/run.ts";
import type { RunSpec } from "../../sdk/schema/run-spec.ts";
import type { Row, Told } from "./rows.ts";

/** What a tracker keeps of where a run is there; JSON. */
export type Place = Record<string, string | number>;

/** What is told of a run before its metrics. */
export interface TrackedRun {
  run: Run;
  spec: RunSpec;
}

/** One way to tell metrics. All of it may be called again after a kill, and counts once. */
export interface TrackerSink {
  /** Reports of one step are told together. */
  readonly merges: boolean;
  /** Begins the run there, or finds the one that was begun. `link`: where people look at it. */
  begin(run: TrackedRun): Promise<{ place: Place; link?: string }>;
  /**
   * Tells the rows that follow row `before.rows`. Resolves to where that led; undefined: what was told is not there
   * any more, and is to be told anew.
   *
   * @param isSure Nothing behind `before` was ever sent. Else some of it may be there already.
   */
  add(
    place: Place,
    rows: readonly Row[],
    before: Told,
    after: Told,
    isSure: boolean,
  ): Promise<Place | undefined>;
  end(place: Place, run: Run, told: Told): Promise<void>;
}

/** Why something was not taken. */
export class TrackerRefusal extends Error {
  /** Of an answer over HTTP. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }

  /** It will most likely be refused again, until somebody does something. */
  get isPlain(): boolean {
    const { status = 0 } = this;
    return status >= 300 && status < 500 && status !== 408 && status !== 429;
  }
}

/**
 * What others are told of how a run is made: its settings, flat, without code, variables, secrets and addresses.
 *
 * @example settingsOf(spec)["trainer.learningRate"] // 0.0002
 */
export function settingsOf(spec: RunSpec): Record<string, string | number | boolean> {
  const { kind, model, adapter, algorithm, trainer, rollout, engine, seed, hardware, startFrom } = spec;
  const dataset = { name: spec.dataset.name, rows: spec.dataset.rows, sha256: spec.dataset.sha256 };
  const told = {
    kind,
    model,
    adapter,
    dataset,
    algorithm,
    trainer,
    rollout,
    engine,
    seed,
    hardware,
    startFrom,
  };
  const flat: Record<string, string | number | boolean> = {};
  const walk = (path: string, value: unknown): void => {
    if (value === undefined || value === null) return;
    if (typeof value === "number" || typeof value === "boolean") flat[path] = value;
    else if (typeof value === "string") flat[path] = value;
    else if (Array.isArray(value)) flat[path] = value.join(", ");
    else for (const [name, each] of Object.entries(value)) walk(path === "" ? name : `${path}.${name}`, each);
  };
  walk("", told);
  return flat;
}
