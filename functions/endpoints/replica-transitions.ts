import type { ReplicaState } from "../../sdk/schema/endpoint.ts";
import { nextState, type Table } from "../records/state-table.ts";

/** from × to → to: what a replica may become. One that is gone leaves the record. */
export const REPLICA_TABLE: Table<ReplicaState, ReplicaState> = {
  waiting: pairs("waiting", "starting", "loading", "ready", "draining", "gone"),
  starting: pairs("waiting", "starting", "loading", "ready", "draining", "gone"),
  loading: pairs("loading", "ready", "draining", "gone"),
  ready: pairs("draining", "gone"),
  draining: pairs("draining", "gone"),
  gone: {},
};

export function nextReplicaState(from: ReplicaState, to: ReplicaState): ReplicaState {
  return nextState("replica", REPLICA_TABLE, from, to);
}

function pairs(...states: ReplicaState[]): Partial<Record<ReplicaState, ReplicaState>> {
  return Object.fromEntries(states.map((state) => [state, state]));
}
