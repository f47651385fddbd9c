import type { Endpoint } from "../../sdk/schema/endpoint.ts";
import type { SpotterError } from "../../sdk/schema/errors.ts";
import { scalingOf } from "../../sdk/schema/scaling.ts";
import { endpointTopic } from "../endpoints/records.ts";
import type { Bus, Listener } from "../events/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { endedError, queueFull } from "./hold.ts";
import type { LoadBook, Ticket } from "./load.ts";
import { pickReplica } from "./pick-replica.ts";
import { readyReplicas, type ReadyReplica } from "./ready-replicas.ts";
import type { RouteTable } from "./route-table.ts";

/** A request that wants a replica. */
export interface Visitor {
  /** Hash of its conversation, for routing. */
  affinity(): number;
  /** It has its slot. Called from within `enter` where one is free. */
  admitted(replica: ReadyReplica): void;
  /** It waited in vain: its endpoint failed or was stopped. */
  turnedAway(error: SpotterError): void;
}

/** A request's place: in the queue first, on a replica then. */
export interface Seat {
  /** Tries another ready replica than those it had; false where there is none with room. */
  moveOn(): boolean;
  /** Gives up the place, whatever it is. Only the first call counts. */
  leave(): void;
}

/** Gives replicas to requests: first come, first served, and never more to a replica than it should have. */
export interface Slots {
  /** Takes a place for a request. Throws `queue_full`, and `endpoint_failed` for an endpoint that ended. */
  enter(endpoint: Endpoint, visitor: Visitor): Seat;
  /** Turns away all who wait; those who are served are not told. */
  dismiss(error: SpotterError): void;
  close(): void;
}

export interface SlotsParams {
  clock: Clock;
  bus: Bus;
  routes: Pick<RouteTable, "find">;
  load: LoadBook;
  /** Asks for a replica: once for all that wait. */
  wake: () => void;
}

/** After this long a replica that did not answer is tried like any other. */
const SUSPECT_MS = 5_000;
const LISTEN_MS = 60_000;

/** What belongs to one endpoint while it has somebody waiting. */
interface Queue {
  /** In the order they came. */
  waiters: Map<Place, Visitor>;
  listener: Listener;
}

interface Place extends Seat {
  take(replica: ReadyReplica): void;
}

export function createSlots({ clock, bus, routes, load, wake }: SlotsParams): Slots {
  const queues = new Map<string, Queue>();
  const suspects = new Map<string, number>();

  function pick(
    endpoint: Endpoint,
    visitor: Visitor,
    except?: ReadonlySet<string>,
  ): ReadyReplica | undefined {
    return pickReplica(readyReplicas(endpoint), {
      // One that lost its replica has waited already: it does not wait again.
      limit: except === undefined ? scalingOf(endpoint.scaling).targetConcurrency : Infinity,
      loadOf: (jobId) => load.inFlightOn(endpoint.name, jobId),
      isSuspect: (jobId) => (suspects.get(jobId) ?? 0) > clock.now(),
      affinity: () => visitor.affinity(),
      ...(except && { except }),
    });
  }

  function suspect(jobIds: Iterable<string>): void {
    const nowMs = clock.now();
    for (const [jobId, untilMs] of suspects) if (untilMs <= nowMs) suspects.delete(jobId);
    for (const jobId of jobIds) suspects.set(jobId, nowMs + SUSPECT_MS);
    wake();
  }

  function enter(found: Endpoint, visitor: Visitor): Seat {
    const { name } = found;
    // Since it was found, a replica may have been told to take no more.
    const endpoint = routes.find(name) ?? found;
    const ended = endedError(name, endpoint);
    if (ended !== undefined) throw ended;
    // Whoever waits already goes first, even if a slot came free this very moment.
    const replica = load.queued(name) === 0 ? pick(endpoint, visitor) : undefined;
    if (replica === undefined) refuseIfFull(endpoint);
    const seat = place(name, visitor, load.accept(name));
    if (replica !== undefined) seat.take(replica);
    else wait(endpoint, seat, visitor);
    return seat;
  }

  function refuseIfFull({ name, scaling }: Endpoint): void {
    const { queueLimit } = scalingOf(scaling);
    if (load.queued(name) >= queueLimit) throw queueFull(name, queueLimit);
  }

  function place(name: string, visitor: Visitor, ticket: Ticket): Place {
    const had: string[] = [];
    let isOver = false;
    const seat: Place = {
      take(replica) {
        had.push(replica.jobId);
        ticket.start(replica.jobId);
        visitor.admitted(replica);
      },
      moveOn() {
        const endpoint = routes.find(name);
        suspect(had);
        const next = isOver || endpoint === undefined ? undefined : pick(endpoint, visitor, new Set(had));
        if (next === undefined) return false;
        seat.take(next);
        return true;
      },
      leave() {
        if (isOver) return;
        isOver = true;
        ticket.end();
        queues.get(name)?.waiters.delete(seat);
        pump(name);
      },
    };
    return seat;
  }

  function wait(endpoint: Endpoint, seat: Place, visitor: Visitor): void {
    const { name } = endpoint;
    let queue = queues.get(name);
    if (queue === undefined) {
      queue = { waiters: new Map(), listener: bus.listen(endpointTopic(name)) };
      queues.set(name, queue);
      void follow(name, queue);
      // Where replicas are up and busy the autoscaler sees it at its next look.
      if (readyReplicas(endpoint).length === 0) wake();
    }
    queue.waiters.set(seat, visitor);
  }

  /** As long as somebody waits: looks again with each news of the endpoint. */
  async function follow(name: string, queue: Queue): Promise<void> {
    while (queues.get(name) === queue) {
      await queue.listener.next(LISTEN_MS);
      pump(name);
    }
  }

  /** Lets in as many as there is room for, in the order they came. */
  function pump(name: string): void {
    const queue = queues.get(name);
    if (queue === undefined) return;
    const endpoint = routes.find(name);
    const ended = endedError(name, endpoint);
    for (const [seat, visitor] of queue.waiters) {
      const replica = ended === undefined && endpoint !== undefined ? pick(endpoint, visitor) : undefined;
      if (ended === undefined && replica === undefined) break;
      queue.waiters.delete(seat);
      if (ended !== undefined) visitor.turnedAway(ended);
      else if (replica !== undefined) seat.take(replica);
    }
    if (queue.waiters.size > 0 || queues.get(name) !== queue) return;
    queues.delete(name);
    queue.listener.close();
  }

  return {
    enter,
    dismiss(error) {
      for (const queue of queues.values())
        for (const [seat, visitor] of queue.waiters) {
          queue.waiters.delete(seat);
          visitor.turnedAway(error);
        }
    },
    close() {
      for (const { listener } of queues.values()) listener.close();
      queues.clear();
    },
  };
}
