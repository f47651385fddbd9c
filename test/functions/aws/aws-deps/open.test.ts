import { describe, expect, it } from "vitest";
import { blobs } from "../../../../functions/aws/aws-deps/blobs.ts";
import { containers } from "../../../../functions/aws/aws-deps/containers.ts";
import { isolates } from "../../../../functions/aws/aws-deps/isolates.ts";
import { openPorts } from "../../../../functions/aws/aws-deps/open.ts";
import { secrets } from "../../../../functions/aws/aws-deps/secrets.ts";
import { store } from "../../../../functions/aws/aws-deps/store.ts";
import { SpotterError } from "../../../../sdk/schema/errors.ts";

const least = {
  SPOTTER_VERSION: "1.2.3",
  SPOTTER_STACK: "spotter-test",
  SPOTTER_URL: "https://d111111abcdef8.cloudfront.net/",
  SPOTTER_TABLE: "table",
};

function thrownBy(open: () => unknown): SpotterError {
  try {
    open();
  } catch (error) {
    return SpotterError.from(error);
  }
  throw new Error("It opened.");
}

describe("the settings of a process on AWS", () => {
  it("name everything that is missing or wrong at once", () => {
    const error = thrownBy(() =>
      openPorts(
        { blobs, containers, isolates, secrets, store },
        { environment: { SPOTTER_URL: "no url", SPOTTER_CONTAINERS: "{", SPOTTER_LOG_LEVEL: "loud" } },
      ),
    );
    expect(error.code).toBe("aws_config_invalid");
    for (const name of [
      "SPOTTER_VERSION",
      "SPOTTER_STACK",
      "SPOTTER_URL",
      "SPOTTER_TABLE",
      "SPOTTER_BUCKET",
      "SPOTTER_CONTAINERS",
      "SPOTTER_ISOLATE_ROLE_ARN",
      "SPOTTER_LOG_LEVEL",
    ])
      expect(error.message).toContain(name);
    expect(error.message).toContain("not JSON");
  });

  it("ask only for what the named ports need", () => {
    const deps = openPorts({ store }, { environment: { ...least, PATH: "/bin" } });
    expect(deps.config.publicUrl()).toBe("https://d111111abcdef8.cloudfront.net");
    expect(deps.shared.maxAgeMs).toBe(2_000);
  });
});

it("offers the engines that the stack has images of, says how it gets others, and knows its places", () => {
  const places = {
    ...{ cluster: "c", subnets: ["s"], securityGroups: [], logGroup: "l" },
    serve: {},
    work: { "L4:1": { jobDefinition: "work", jobQueue: "queue" } },
  };
  const open = (engines?: object) =>
    openPorts(
      { store, containers },
      { environment: { ...least, SPOTTER_CONTAINERS: JSON.stringify({ ...places, engines }) } },
    ).config;
  const { engines, engineHint, checkPlace } = open({ slime: { work: "slime-{class}" } });
  expect(engines?.()).toEqual(["slime"]);
  expect(open().engines?.()).toEqual([]);
  expect(engineHint?.("vllm")).toContain("spotter:engineImages[0]' vllm=");
  const hardware = { gpu: "L4", count: 1, spot: false } as const;
  expect(() => checkPlace?.("train", { engine: "slime", hardware })).not.toThrow();
  expect(() => checkPlace?.("train", { engine: "slime", hardware: { ...hardware, nodes: 2 } })).toThrow(
    "several instances",
  );
  expect(() => checkPlace?.("serve", { hardware })).toThrow("no L4 instances");
});

describe("a port that a process was built without", () => {
  it("says so when it is used, and is no promise", async () => {
    const deps = openPorts({ store }, { environment: least });
    await expect(deps.blobs.head("x")).rejects.toThrow("built without blobs");
    await expect(deps.isolates.load({ sha256: "x", code: new Uint8Array(), secrets: {} })).rejects.toThrow(
      "isolates",
    );
    expect(await Promise.resolve(deps.blobs)).toBe(deps.blobs);
    expect(deps.secrets.redact("text")).toBe("text");
    expect(deps.containers.onChange(() => {})()).toBeUndefined();
  });
});

it("writes one JSON object a line", () => {
  const lines: string[] = [];
  const deps = openPorts({ store }, { environment: least, write: (line) => lines.push(line) });
  deps.log.info("hello", { n: 1 });
  deps.log.debug("not this");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { time: expect.any(String) as string, level: "info", message: "hello", n: 1 },
  ]);
});
