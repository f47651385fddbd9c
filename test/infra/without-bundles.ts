import { vi } from "vitest";

/**
 * Imported by tests of the stack that do not look into functions and programs: bundling all of them takes seconds
 * and changes nothing else.
 *
 * @example import "./without-bundles.ts";
 */
vi.mock("../../infra/bundle.ts", () => ({ bundle: async () => ({ "index.mjs": "export {};" }) }));
vi.mock("../../infra/bundle/engine-archive.ts", () => ({ engineFiles: () => [] }));
vi.mock("../../infra/bundle/program-file.ts", () => ({
  programFile: (name: string) => ({ path: `/programs/${name}.tar.gz`, sha256: "0".repeat(64) }),
}));
