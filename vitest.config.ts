import { defineConfig } from "vitest/config";

const shared = { environment: "node" as const, setupFiles: ["test/setup.ts"], pool: "forks" as const };

export default defineConfig({
  test: {
    // Two forks: the suite must fit a machine with two cores, and engine tests use both of them.
    maxWorkers: 2,
    reporters: ["default"],
    projects: [
      {
        test: {
          ...shared,
          name: "unit",
          include: ["test/{sdk,functions,engine,scripts,examples,budget,docs}/**/*.test.ts"],
          // Some start a process or a server; a machine that is busy must not fail them.
          testTimeout: 15_000,
          hookTimeout: 30_000,
          // Files share a process, which loads our modules and schemas once: half of the time. What a test changes
          // of its process (variables, globals, timers) it puts back.
          isolate: false,
        },
      },
      // The mocks of Pulumi hold for a whole process.
      { test: { ...shared, name: "infra", include: ["test/infra/**/*.test.ts"] } },
      { test: { ...shared, name: "contract", include: ["test/contract/**/*.test.ts"], testTimeout: 20_000 } },
      {
        test: {
          ...shared,
          // Every file has a state folder and a daemon of its own, and waits more than it works.
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: "chaos",
          include: ["test/chaos/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...shared,
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          testTimeout: 30_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...shared,
          name: "long",
          include: ["test/long/**/*.test.ts"],
          setupFiles: [...shared.setupFiles, "test/long/deadline.ts"],
          testTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        // Without the setup of the others: weights may come from the hub.
        test: {
          environment: "node",
          pool: "forks",
          name: "gpu",
          include: ["test/gpu/**/*.test.ts"],
          fileParallelism: false,
        },
      },
    ],
  },
});
