import { describe, expect, it } from "vitest";
import { recordStack, type Recorded } from "./record-stack.ts";
import "./without-bundles.ts";

/**
 * Everything that a stack makes: a newer provider, or a line that looked harmless, must not replace something or
 * bring a role that nobody asked for. Written anew by `vitest run -u test/infra/snapshot.test.ts`; read the difference.
 */
describe.each(["fargate", "lambda"])("with the gateway on %s", (gateway) => {
  it("makes these resources and no others", async () => {
    const { resources } = await recordStack({ "spotter:gateway": gateway });
    await expect(listed(resources)).toMatchFileSnapshot(`snapshots/${gateway}.txt`);
  }, 60_000);
});

/** Types with their count, and below them the names; what only groups others apart. */
function listed(resources: readonly Recorded[]): string {
  const byType = Map.groupBy(
    resources.filter(({ custom }) => custom),
    ({ type }) => type,
  );
  const lines = [...byType]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([type, found]) => [
      `${found.length} ${type}`,
      ...found.map(({ name }) => `    ${name}`).sort(),
    ]);
  return `${lines.join("\n")}\n`;
}
