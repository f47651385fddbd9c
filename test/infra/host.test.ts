import { beforeAll, describe, expect, it } from "vitest";
import { runUnderHost, type HostReport } from "./engine/host.ts";
import { recordStack, type Recorded, type Recording } from "./record-stack.ts";
import "./without-bundles.ts";

/**
 * The run is a process that bundles all functions. Everything that needs it is in this file; the other tests of the
 * stack run the program within their own process, and this file shows that they see the same. A preview under the host
 * is test/long/preview-under-host.test.ts.
 */
let deployment: HostReport;
let within: Recording;
beforeAll(async () => {
  [deployment, within] = await Promise.all([runUnderHost(), recordStack()]);
}, 180_000);

const FUNCTION = "aws:lambda/function:Function";

describe("under Pulumi's language host, from the committed Pulumi.yaml", () => {
  it("creates everything and says nothing", () => {
    expect(deployment).toMatchObject({ exitCode: 0, errors: [], warnings: [], text: "" });
  });

  it("exports where the stack is", () => {
    expect(deployment.outputs).toMatchObject({
      url: "https://d111111abcdef8.cloudfront.net",
      gatewayUrl: "https://d111111abcdef8.cloudfront.net/v1",
      bucketName: "data-1a2b3c4",
      tableName: "state-1a2b3c4",
    });
  });

  it("ships in each function what its sources are bundled to", () => {
    const functions = deployment.resources.filter(({ type }) => type === FUNCTION);
    expect(functions.length).toBeGreaterThan(10);
    for (const { name, inputs } of functions) {
      const { assets } = inputs["code"] as { assets: Record<string, { text: string }> };
      expect(assets["index.mjs"]?.text.length, name).toBeGreaterThan(1_000);
    }
  });

  it("pins the provider of AWS, so that an update of it is a change of ours", () => {
    const versions = new Set(
      deployment.resources.filter(({ type }) => type.startsWith("aws:")).map(({ version }) => version),
    );
    expect([...versions]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
  });
});

describe("within a test's own process", () => {
  it("sees the same resources, with the same dependencies, protection and secrets", () => {
    const seen = ({ resources }: Recording) =>
      Object.fromEntries(
        resources.map((each) => [
          each.urn,
          { ...each, inputs: Object.keys(each.inputs).sort(), dependencies: each.dependencies.toSorted() },
        ]),
      );
    expect(seen(within)).toEqual(seen(deployment));
    expect(within.outputs).toEqual(deployment.outputs);
  });

  it("previews a first deployment, when nothing is known yet", async () => {
    const preview = await recordStack({}, { preview: true });
    expect(urns(preview)).toEqual(urns(deployment));
    expect(preview.resources.some(({ unknowns }) => unknowns.length > 0)).toBe(true);
    expect(deployment.resources.filter(({ unknowns }) => unknowns.length > 0)).toEqual([]);
  }, 60_000);
});

describe("secrets", () => {
  it("are marked wherever they go: whoever reads the state of a stack does not read them", () => {
    const [password] = deployment.resources.filter(({ type }) => type.endsWith(":RandomPassword"));
    expect(password?.additionalSecretOutputs).toContain("result");
    const holders = deployment.resources.filter(({ inputs }) =>
      JSON.stringify(inputs).includes("not-so-random"),
    );
    // The functions, the front door that shows it to them, and the parameter that the gateway reads.
    expect(new Set(holders.map(({ type }) => type))).toEqual(
      new Set([FUNCTION, "aws:cloudfront/distribution:Distribution", "aws:ssm/parameter:Parameter"]),
    );
    for (const holder of holders) expect(plainText(holder), holder.urn).not.toContain("not-so-random");
  });

  it("are no outputs, and in no task definition", () => {
    expect(JSON.stringify(deployment.outputs)).not.toContain("not-so-random");
    expect(deployment.secretOutputs).toEqual([]);
  });
});

it("puts no value into a text that is none", () => {
  const wrong = /\bundefined\b|\[object |Calling \[toString\]|\bNaN\b/;
  const texts = deployment.resources
    .filter(({ type }) => type !== FUNCTION)
    .filter(({ inputs }) => wrong.test(JSON.stringify(inputs)));
  expect(texts.map(({ urn }) => urn)).toEqual([]);
});

function urns({ resources }: Recording): string[] {
  return resources.map(({ urn }) => urn).sort();
}

/** What is left of the inputs without what is marked secret. */
function plainText({ inputs, secrets }: Recorded): string {
  const without = (value: unknown, path: string): unknown => {
    if (secrets.includes(path)) return "secret";
    if (Array.isArray(value)) return value.map((each, index) => without(each, `${path}[${index}]`));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, without(each, path === "" ? key : `${path}.${key}`)]),
    );
  };
  return JSON.stringify(without(inputs, ""));
}
