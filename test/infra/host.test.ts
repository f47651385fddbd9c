import { beforeAll, describe, expect, it } from "vitest";
import { runUnderHost, type HostReport } from "./engine/host.ts";

/** Each run is a process that bundles all functions: everything that needs one is in this file. */
let deployment: HostReport;
let preview: HostReport;
beforeAll(async () => {
  deployment = await runUnderHost();
  preview = await runUnderHost({ preview: true });
}, 180_000);

describe("under Pulumi's language host", () => {
  it("loads from the committed Pulumi.yaml, creates everything and says nothing", () => {
    expect(deployment).toMatchObject({ exitCode: 0, errors: [], warnings: [], text: "" });
    expect(deployment.outputs["url"]).toMatch(/^https:\/\//);
  });

  it("previews a first deployment, when nothing is known yet", () => {
    expect(preview).toMatchObject({ exitCode: 0, errors: [], warnings: [], text: "" });
    expect(preview.resources.map(({ urn }) => urn).sort()).toEqual(
      deployment.resources.map(({ urn }) => urn).sort(),
    );
    expect(preview.resources.some(({ unknowns }) => unknowns.length > 0)).toBe(true);
  });
});
