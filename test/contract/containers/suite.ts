import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ContainerKind, Containers, ContainerState } from "../../../functions/ports/containers.ts";

export interface ContainersFixture {
  containers: Containers;
  /**
   * The environment that makes a container do this: `say=WORD`, `pid` (says "pid N"), `exit=CODE`,
   * `forever`, `deaf` (ignores the request to end), `polite` (ends with 0 when asked); several words one
   * after the other.
   */
  environmentFor: (actions: string) => {
    SPOTTER_URL: string;
    SPOTTER_JOB_ID: string;
    SPOTTER_JOB_TOKEN: string;
  };
  /** Ends the process of a container as running out of memory would. */
  killForMemory: (jobId: string) => Promise<void>;
  dispose: () => Promise<void>;
}

/** What every Containers must do. */
export function containersContract(name: string, create: () => Promise<ContainersFixture>): void {
  describe(`${name} keeps the Containers contract`, () => {
    let fixture: ContainersFixture;
    let containers: Containers;
    beforeEach(async () => {
      fixture = await create();
      containers = fixture.containers;
    });
    afterEach(async () => {
      await fixture.dispose();
    });
    const launch = (jobId: string, actions: string, kind: ContainerKind = "eval") =>
      containers.launch({ jobId, kind, environment: fixture.environmentFor(actions) });

    it("runs a container to its end and keeps its last lines", async () => {
      expect(await launch("job-1", "say=hello say=world")).toEqual({ jobId: "job-1" });
      expect(await ended(containers, "job-1")).toEqual({
        state: "exited",
        exitCode: 0,
        reason: "done",
        logTail: ["hello", "world"],
      });
      expect(await containers.logs("job-1", 1)).toEqual(["world"]);
      expect(await containers.list()).toEqual([]);
    });

    it("tells the exit code of a failure", async () => {
      await launch("job-1", "say=trouble exit=3");
      expect(await ended(containers, "job-1")).toMatchObject({
        exitCode: 3,
        reason: "error",
        logTail: ["trouble"],
      });
    });

    it("tells a kill that nobody asked for from an error", async () => {
      await launch("job-1", "pid say=up forever");
      await says(containers, "job-1", "up");
      await fixture.killForMemory("job-1");
      expect(await ended(containers, "job-1")).toMatchObject({ reason: "oom" });
    });

    it("starts one container for one id, however often it is launched", async () => {
      await Promise.all([launch("job-1", "say=one forever"), launch("job-1", "say=one forever")]);
      await launch("job-1", "say=one forever");
      await says(containers, "job-1", "one");
      expect(await containers.list()).toEqual([{ jobId: "job-1", kind: "eval" }]);
      await containers.stop("job-1", 0);
      await launch("job-1", "say=again");
      expect(await containers.describe("job-1")).toMatchObject({ state: "exited", logTail: ["one"] });
    });

    it("asks a container to end, and waits for it", async () => {
      await launch("job-1", "polite say=up forever");
      await says(containers, "job-1", "up");
      await containers.stop("job-1", 10_000);
      expect(await containers.describe("job-1")).toMatchObject({
        state: "exited",
        exitCode: 0,
        reason: "user",
      });
    });

    it("ends by force one that does not", async () => {
      await launch("job-1", "deaf say=up forever");
      await says(containers, "job-1", "up");
      await containers.stop("job-1", 100);
      expect(await containers.describe("job-1")).toMatchObject({
        state: "exited",
        reason: "user",
        logTail: ["up", "heard"],
      });
    });

    it("knows nothing of an id that was never launched", async () => {
      expect(await containers.describe("job-1")).toEqual({ state: "unknown" });
      expect(await containers.logs("job-1", 10)).toEqual([]);
      await containers.stop("job-1", 1000);
    });

    it("tells of every change until nobody listens", async () => {
      const heard: Promise<ContainerState>[] = [];
      const stopListening = containers.onChange((jobId) => {
        expect(jobId).toBe("job-1");
        heard.push(containers.describe(jobId));
      });
      await launch("job-1", "forever");
      await reaches(containers, "job-1", ({ state }) => state === "running");
      await containers.stop("job-1", 0);
      // Whoever looks when told sees each state, the last one too.
      await vi.waitFor(async () => expect(await heard.at(-1)).toMatchObject({ state: "exited" }), 10_000);
      expect((await Promise.all(heard)).map(({ state }) => state)).toContain("running");
      stopListening();
      const before = heard.length;
      await launch("job-2", "forever");
      await containers.stop("job-2", 0);
      expect(heard).toHaveLength(before);
    });

    it("ends everything when it is closed", async () => {
      await launch("job-1", "polite say=up forever", "serve");
      await launch("job-2", "deaf say=up forever", "train");
      await says(containers, "job-1", "up");
      await says(containers, "job-2", "up");
      await containers.close();
      expect(await containers.list()).toEqual([]);
      expect(await containers.describe("job-2")).toMatchObject({ reason: "user" });
      await expect(launch("job-3", "exit=0")).rejects.toMatchObject({ code: "capacity" });
    });

    it.each(["", "../up", "a/b", ".hidden", "a b"])("refuses the id %j", async (jobId) => {
      await expect(launch(jobId, "exit=0")).rejects.toMatchObject({ code: "invalid_input" });
    });
  });
}

export async function ended(containers: Containers, jobId: string): Promise<ContainerState> {
  return await reaches(containers, jobId, (state) => state.state === "exited");
}

export async function says(containers: Containers, jobId: string, line: string): Promise<void> {
  await vi.waitFor(async () => expect(await containers.logs(jobId, 100)).toContain(line), {
    timeout: 10_000,
    interval: 20,
  });
}

async function reaches(
  containers: Containers,
  jobId: string,
  wanted: (state: ContainerState) => boolean,
): Promise<ContainerState> {
  return await vi.waitFor(
    async () => {
      const state = await containers.describe(jobId);
      if (!wanted(state)) throw new Error(`${jobId} is ${JSON.stringify(state)}`);
      return state;
    },
    { timeout: 10_000, interval: 20 },
  );
}
