import { configDefaults, defineConfig } from "vitest/config";

/** What reads and checks configurations: pure functions, with schemas that take longer to load than to use. */
const CONFIG = "test/sdk/config/**/*.test.ts";

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
          include: ["test/{sdk,functions,engine,scripts,examples,infra,budget,docs}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, CONFIG],
        },
      },
      // Its files share a process: nothing in them changes what another would see.
      { test: { ...shared, name: "config", include: [CONFIG], isolate: false } },
      { test: { ...shared, name: "contract", include: ["test/contract/**/*.test.ts"], testTimeout: 20_000 } },
      {
        test: {
          ...shared,
          // Every file has a state folder and a daemon of its own, and waits more than it works.
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: "chaos",
          include: ["test/chaos/**/*.test.ts"],
          testTimeout: 120_000,
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
    ],
  },
});
