import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");
const entry = pathToFileURL(join(root, "infra/start.mjs")).href;

function startAs(version: string): string {
  const script = `
    Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} });
    await import(${JSON.stringify(entry)}).catch((error) => console.log(error.message));`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }).stdout;
}

it.each(["20.19.0", "22.18.0"])("refuses Node %s and tells the remedy", (version) => {
  expect(startAs(version)).toMatch(/^node_too_old: .*22\.19.*npm exec -- pulumi up/);
});

it("is what Pulumi.yaml names", () => {
  const { main, runtime } = parse(readFileSync(join(root, "Pulumi.yaml"), "utf8")) as {
    main: string;
    runtime: unknown;
  };
  expect(pathToFileURL(join(root, main)).href).toBe(entry);
  // With `typescript: true` the host would load an old compiler that cannot read the program.
  expect(runtime).toEqual({ name: "nodejs", options: { typescript: false } });
});

describe("under Pulumi's language host", () => {
  interface Report {
    code: number;
    resources: { type: string; name: string; protect: boolean; dependencies: string[] }[];
    outputs: Record<string, string>;
    errors: string[];
    text: string;
  }
  const run = (...options: string[]): Report => {
    const engine = join(root, "test/fixtures/infra/pulumi-engine.mjs");
    const { stdout } = spawnSync(process.execPath, [engine, "infra/start.mjs", ...options], {
      encoding: "utf8",
    });
    return JSON.parse(stdout) as Report;
  };
  const find = ({ resources }: Report, type: string) =>
    resources.find((resource) => resource.type.endsWith(`:${type}`));

  it("loads, creates everything, and exports the URL", () => {
    const report = run();
    expect(report).toMatchObject({ code: 0, errors: [], text: "" });
    expect(report.outputs).toEqual({ url: "https://url/", bucketName: "data", tableName: "state" });
    expect(report.resources.filter(({ protect }) => protect).map(({ type }) => type)).toEqual([
      "aws:s3/bucket:Bucket",
      "aws:dynamodb/table:Table",
    ]);
    expect(find(report, "Function")?.dependencies).toContain("aws:iam/rolePolicy:RolePolicy::control");
    expect(find(report, "BucketLifecycleConfiguration")?.dependencies).toContain(
      "aws:s3/bucketVersioning:BucketVersioning::data",
    );
  }, 60_000);

  it("previews a first deployment, when nothing is known yet", () => {
    const report = run("--preview");
    expect(report).toMatchObject({ code: 0, errors: [], text: "" });
    expect(report.resources).toHaveLength(19);
  }, 60_000);
});
