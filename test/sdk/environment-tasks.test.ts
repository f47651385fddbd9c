import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Client } from "../../sdk/client.ts";
import type { DatasetRow } from "../../sdk/schema/dataset.ts";
import { inTurns, loadEnvironments } from "../../sdk/environment-tasks.ts";

const rows = (name: string, count: number): DatasetRow[] =>
  Array.from({ length: count }, (_, index) => ({ prompt: [], row: { id: `${name}${index}` } }));

describe("inTurns", () => {
  it("gives rows of every source early, and all of them", async () => {
    async function* streamed() {
      yield* rows("b", 4);
    }
    const ids: unknown[] = [];
    for await (const { row } of inTurns([rows("a", 2), streamed(), rows("c", 0)])) ids.push(row.id);
    expect(ids).toEqual(["a0", "b0", "a1", "b1", "b2", "b3"]);
  });
});

describe("loadEnvironments", () => {
  const warnings = () => {
    const said = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    return () => said.mock.calls.map(([text]) => String(text));
  };

  /** A server that answers the load of tasks when it is told to. */
  function environmentFile() {
    const folder = mkdtempSync(join(tmpdir(), "spotter-tasks-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "game.ts");
    writeFileSync(file, "export const game = 1;\n");
    const loading = Promise.withResolvers<{ rows: Record<string, unknown>[] }>();
    const asked = Promise.withResolvers<void>();
    const request = async (_schema: unknown, _verb: string, path: string) => {
      if (!path.endsWith("/rows"))
        return { name: "game.ts", exports: [{ kind: "environment", name: "game" }] };
      asked.resolve();
      return loading.promise;
    };
    const client = { request } as unknown as Client;
    const loaded = loadEnvironments(client, [{ file }], [], { secrets: [], signal: undefined });
    return { loaded, asked: asked.promise, answer: loading.resolve };
  }

  it("says after five seconds what it waits for, and nothing before", async () => {
    const said = warnings();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { loaded, asked, answer } = environmentFile();
    await asked;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(said()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(said()).toEqual(["Waiting for game to load its tasks, which may take a minute."]);
    answer({ rows: [{ id: 1 }] });
    expect((await loaded).train[0]).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(said()).toHaveLength(1);
  });

  it("says that an environment without tasks is left out", async () => {
    const said = warnings();
    const { loaded, answer } = environmentFile();
    answer({ rows: [] });
    await loaded;
    expect(said()).toEqual(["game has no tasks; it is left out."]);
  });
});
