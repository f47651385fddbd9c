import { expect, it } from "vitest";
import { runUnderHost } from "../infra/engine/host.ts";
import { recordStack, type Recording } from "../infra/record-stack.ts";
import "../infra/without-bundles.ts";

/** A deployment under the host is test/infra/host.test.ts, and so is a preview without it. */
it("previews a first deployment under Pulumi's language host, when nothing is known yet", async () => {
  const [preview, within] = await Promise.all([
    runUnderHost({ preview: true }),
    recordStack({}, { preview: true }),
  ]);
  expect(preview).toMatchObject({ exitCode: 0, errors: [], warnings: [], text: "" });
  expect(unknownsOf(preview)).toEqual(unknownsOf(within));
  expect(preview.resources.some(({ unknowns }) => unknowns.length > 0)).toBe(true);
});

/** What is not known of each resource, such as `["code.arn"]`, by its URN. */
function unknownsOf({ resources }: Recording): Record<string, string[]> {
  return Object.fromEntries(resources.map(({ urn, unknowns }) => [urn, unknowns.toSorted()]));
}
