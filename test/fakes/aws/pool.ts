import type { FakeAwsClock } from "./clock.ts";
import { arn, type FakeIds } from "./ids.ts";
import { fits, freeOf, instancesFor } from "./packing.ts";
import { resourcesOf, type InstanceResources } from "./instance-types.ts";

export interface Instance {
  id: string;
  pool: string;
  type: string;
  spot: boolean;
  state: "pending" | "running" | "shutting-down" | "terminated";
  /** Joined its cluster: tasks can be placed on it. */
  registered: boolean;
  draining: boolean;
  /** Runs outside its group, as a crash between launch and record leaves it: nobody counts it or scales it in. */
  orphan: boolean;
  launchedAtMs: number;
  terminatedAtMs: number | undefined;
  idleSinceMs: number;
  resources: InstanceResources;
  leases: Set<Lease>;
  tags: Map<string, string>;
}

/** Room for one task or job: waits until an instance has it. */
export interface Lease {
  needs: InstanceResources;
  instance: Instance | undefined;
  onPlaced: (instance: Instance) => void;
  /** The instance went away under it. */
  onLost: (why: string) => void;
  released: boolean;
}

export interface Activity {
  id: string;
  atMs: number;
  description: string;
  status: "Successful" | "Failed";
  message?: string;
}

export interface PoolSettings {
  name: string;
  instanceType: string;
  minSize?: number;
  maxSize: number;
  spot?: boolean;
  /** On by default: the size follows what waits and what is idle. */
  managedScaling?: boolean;
  tags?: Record<string, string>;
}

export interface PoolDelays {
  /** From the launch to the instance being in its cluster. */
  instanceBootMs: number;
  /** An idle instance is kept this long. */
  scaleInMs: number;
  /** Between attempts to launch while there is no capacity. */
  launchRetryMs: number;
  /** Shutting down. */
  instanceStopMs: number;
}

export interface PoolProblem {
  error: "InsufficientInstanceCapacity" | "VcpuLimitExceeded";
  message?: string;
}

const messages = {
  InsufficientInstanceCapacity:
    "We currently do not have sufficient capacity in the Availability Zone you requested. Launching EC2 instance failed.",
  VcpuLimitExceeded:
    "You have requested more vCPU capacity than your current vCPU limit of 0 allows for the instance bucket that the specified instance type belongs to. Launching EC2 instance failed.",
};

/** Instances of one kind that grow with what waits and shrink when idle: an Auto Scaling group behind a cluster. */
export class Pool {
  readonly settings: PoolSettings;
  readonly instances: Instance[] = [];
  readonly activities: Activity[] = [];
  readonly waiting: Lease[] = [];
  desired: number;
  problem: PoolProblem | undefined;
  #retryPlanned = false;
  readonly #clock: FakeAwsClock;
  readonly #ids: FakeIds;
  readonly #delays: PoolDelays;

  constructor(settings: PoolSettings, clock: FakeAwsClock, ids: FakeIds, delays: PoolDelays) {
    this.settings = settings;
    this.#clock = clock;
    this.#ids = ids;
    this.#delays = delays;
    this.desired = settings.minSize ?? 0;
    this.#reach();
  }

  get alive(): Instance[] {
    return this.instances.filter(
      ({ state, orphan }) => !orphan && (state === "pending" || state === "running"),
    );
  }

  get arn(): string {
    return arn(
      "autoscaling",
      `autoScalingGroup:${this.settings.name}:autoScalingGroupName/${this.settings.name}`,
    );
  }

  /** Whether an empty instance would have the room. */
  couldFit(needs: InstanceResources): boolean {
    return fits(needs, resourcesOf(this.settings.instanceType));
  }

  acquire(request: Pick<Lease, "needs" | "onPlaced" | "onLost">): Lease {
    const lease: Lease = { ...request, instance: undefined, released: false };
    this.waiting.push(lease);
    this.settleSoon();
    return lease;
  }

  release(lease: Lease): void {
    if (lease.released) return;
    lease.released = true;
    remove(this.waiting, lease);
    const { instance } = lease;
    instance?.leases.delete(lease);
    if (instance !== undefined && instance.leases.size === 0) this.#watchIdle(instance);
    this.settleSoon();
  }

  setDesired(size: number): void {
    this.desired = size;
    const idleFirst = [...this.alive].sort((a, b) => a.leases.size - b.leases.size);
    for (const instance of idleFirst.slice(0, Math.max(0, idleFirst.length - size))) {
      this.terminate(instance, "User initiated.");
    }
    this.#reach();
  }

  /** Placement happens a turn later, never inside the call that asks. */
  settleSoon(): void {
    this.#clock.after(0, () => {
      this.#place();
      this.#grow();
    });
  }

  /** Starts what the desired size lacks. */
  reachSoon(): void {
    this.#clock.after(0, () => this.#reach());
  }

  terminate(instance: Instance, cause: string): void {
    if (instance.state === "shutting-down" || instance.state === "terminated") return;
    instance.state = "shutting-down";
    instance.registered = false;
    this.#record(`Terminating EC2 instance: ${instance.id}`, "Successful", cause);
    for (const lease of [...instance.leases]) lease.onLost(`Host EC2 (instance ${instance.id}) terminated.`);
    this.settleSoon();
    this.#clock.after(this.#delays.instanceStopMs, () => {
      instance.state = "terminated";
      instance.terminatedAtMs = this.#clock.now();
      // A group that nothing else sizes replaces what it lost.
      if (this.settings.managedScaling === false) this.#reach();
    });
  }

  launch(orphan = false): Instance {
    const { name, instanceType, spot = false, tags = {} } = this.settings;
    const instance: Instance = {
      id: `i-0${this.#ids.hex(16)}`,
      pool: name,
      type: instanceType,
      spot,
      state: "pending",
      registered: false,
      draining: orphan,
      orphan,
      launchedAtMs: this.#clock.now(),
      terminatedAtMs: undefined,
      idleSinceMs: this.#clock.now(),
      resources: resourcesOf(instanceType),
      leases: new Set(),
      tags: new Map(Object.entries({ "aws:autoscaling:groupName": name, ...tags })),
    };
    this.instances.push(instance);
    this.#record(`Launching a new EC2 instance: ${instance.id}`, "Successful");
    this.#clock.after(this.#delays.instanceBootMs / 3, () => {
      if (instance.state === "pending") instance.state = "running";
    });
    this.#clock.after(this.#delays.instanceBootMs, () => {
      if (instance.state !== "running") return;
      instance.registered = true;
      this.#watchIdle(instance);
      this.settleSoon();
    });
    return instance;
  }

  #place(): void {
    for (const lease of [...this.waiting]) {
      const instance = this.instances.find(
        (each) => each.registered && !each.draining && fits(lease.needs, freeOf(each)),
      );
      if (instance === undefined) continue;
      remove(this.waiting, lease);
      lease.instance = instance;
      instance.leases.add(lease);
      lease.onPlaced(instance);
    }
  }

  #grow(): void {
    if (this.settings.managedScaling === false) return;
    const booting = this.alive.filter(({ registered }) => !registered).length;
    const needed = instancesFor(
      this.waiting.filter(({ needs }) => this.couldFit(needs)).map(({ needs }) => needs),
      resourcesOf(this.settings.instanceType),
    );
    const wanted = this.alive.length - booting + Math.max(needed, booting);
    this.desired = Math.min(this.settings.maxSize, Math.max(wanted, this.settings.minSize ?? 0));
    this.#reach();
  }

  #reach(): void {
    while (this.alive.length < this.desired) {
      if (this.problem !== undefined) return this.#refuse(this.problem);
      this.launch();
    }
  }

  #refuse({ error, message }: PoolProblem): void {
    if (this.#retryPlanned) return;
    this.#retryPlanned = true;
    this.#record(
      "Launching a new EC2 instance.  Status Reason: " + (message ?? messages[error]),
      "Failed",
      `${error}: ${message ?? messages[error]}`,
    );
    this.#clock.after(this.#delays.launchRetryMs, () => {
      this.#retryPlanned = false;
      this.#reach();
    });
  }

  #watchIdle(instance: Instance): void {
    const { managedScaling, minSize = 0 } = this.settings;
    if (managedScaling === false) return;
    const sinceMs = (instance.idleSinceMs = this.#clock.now());
    this.#clock.after(this.#delays.scaleInMs, () => {
      const idle =
        !instance.orphan &&
        instance.registered &&
        instance.leases.size === 0 &&
        instance.idleSinceMs === sinceMs;
      if (!idle || this.alive.length <= minSize) return;
      this.desired = Math.max(minSize, this.desired - 1);
      this.terminate(instance, "An instance was taken out of service in response to idle capacity.");
    });
  }

  #record(description: string, status: Activity["status"], message?: string): void {
    this.activities.unshift({ id: this.#ids.uuid(), atMs: this.#clock.now(), description, status, message });
  }
}

function remove<T>(list: T[], item: T): void {
  const index = list.indexOf(item);
  if (index >= 0) list.splice(index, 1);
}
