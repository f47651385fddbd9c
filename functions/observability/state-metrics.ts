import type * as prom from "prom-client";
import { REPLICA_STATES } from "../../sdk/schema/endpoint.ts";
import type { Control } from "../control.ts";
import { isServing } from "../endpoints/transitions.ts";
import { boundedName } from "./request-metrics.ts";

type PromClient = Pick<typeof prom, "Counter" | "Gauge">;
type Watched = Pick<Control, "routes" | "load" | "tally" | "isolates" | "config">;

/** What is true now, read at each scrape: endpoints, replicas, isolates, and what was counted since the start. */
export function stateMetrics(
  { Counter, Gauge }: PromClient,
  registry: prom.Registry,
  control: Watched,
): void {
  const registers = [registry];
  const serving = () => control.routes.all().filter(isServing);
  const perEndpoint = (name: string, help: string, valueOf: (endpoint: Served) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["endpoint"],
      registers,
      collect() {
        this.reset();
        const known = new Set<string>();
        for (const endpoint of serving())
          this.inc({ endpoint: boundedName(known, endpoint.name) }, valueOf(endpoint));
      },
    });
  perEndpoint("spotter_requests_in_flight", "Requests that a replica works on.", ({ name }) =>
    inFlight(control, name),
  );
  perEndpoint("spotter_requests_queued", "Requests that wait for a replica.", ({ name }) =>
    control.load.queued(name),
  );
  perEndpoint("spotter_replicas_desired", "Replicas the endpoint is to have.", ({ desired }) => desired);
  new Gauge({
    name: "spotter_replicas",
    help: "Replicas by state.",
    labelNames: ["endpoint", "state"],
    registers,
    collect() {
      this.reset();
      const known = new Set<string>();
      for (const { name, replicas } of serving()) {
        const endpoint = boundedName(known, name);
        for (const state of REPLICA_STATES) if (state !== "gone") this.inc({ endpoint, state }, 0);
        for (const { state } of replicas) if (state !== "gone") this.inc({ endpoint, state });
      }
    },
  });
  new Gauge({
    name: "spotter_isolates",
    help: "Isolates of rewards, tools and environments that are alive.",
    registers,
    collect() {
      this.set(control.isolates.running ?? 0);
    },
  });
  new Counter({
    name: "spotter_run_steps_total",
    help: "Training steps that runs finished.",
    labelNames: ["kind"],
    registers,
    collect() {
      this.reset();
      for (const [kind, steps] of control.tally.counts().stepsByKind) this.inc({ kind }, steps);
    },
  });
  new Counter({
    name: "spotter_reward_rows_total",
    help: "Rows that rewards judged, and those on which one gave no verdict.",
    labelNames: ["verdict"],
    registers,
    collect() {
      this.reset();
      const { rowsJudged, rowsWithoutVerdict } = control.tally.counts();
      this.inc({ verdict: "given" }, rowsJudged);
      this.inc({ verdict: "missing" }, rowsWithoutVerdict);
    },
  });
  new Gauge({
    name: "spotter_build_info",
    help: "Always 1; the version is a label.",
    labelNames: ["version"],
    registers,
  }).set({ version: control.config.version }, 1);
}

type Served = ReturnType<Control["routes"]["all"]>[number];

function inFlight({ load }: Watched, name: string): number {
  return load.snapshot(name).inFlight;
}
