import type { LoadBook } from "../gateway/load.ts";
import type { Load } from "./views.ts";

/** All gateways together, as far as this process knows. */
export interface Fleet {
  /** Gateways that live; 1 where nobody else is known. Limits are split by it. */
  readonly size: number;
  /** What all of them have to do for an endpoint, this one included. */
  load(endpoint: string): Load;
  /** One of them was not heard of lately: nobody can tell whether there is less to do. */
  readonly isUncertain: boolean;
  /** Requests that a replica works on. In a process that is no gateway: as of the last `look`. */
  inFlightOn(endpoint: string, replica: { jobId: string; state: string }): number;
  /** Reads what the others wrote down. */
  look(): Promise<void>;
  /** From here on this process looks every second. */
  follow(): Promise<void>;
  /** From here on this process is one of the gateways. */
  join(): Promise<void>;
  /** Writes down now what this gateway has to do: for one that may stand still before its next turn. */
  publish(): Promise<void>;
  /** Calls back after each look. Returns the way to stop that. */
  onLook(listener: () => void): () => void;
  /** Leaves the others at once, where it was a gateway. */
  close(): Promise<void>;
}

/** The only gateway there is. */
export function createLoneFleet(load: LoadBook): Fleet {
  return {
    size: 1,
    isUncertain: false,
    load: (endpoint) => load.snapshot(endpoint),
    inFlightOn: (endpoint, { jobId }) => load.inFlightOn(endpoint, jobId),
    look: async () => undefined,
    follow: async () => undefined,
    join: async () => undefined,
    publish: async () => undefined,
    onLook: () => () => undefined,
    close: async () => undefined,
  };
}
