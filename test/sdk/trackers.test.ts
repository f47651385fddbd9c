import { describe, expect, it } from "vitest";
import { tracker } from "../../sdk/schema/tracker.ts";
import { trackersOf } from "../../sdk/trackers.ts";

const here = (environment = {}) => ({ cwd: "/home/me/project", environment });

describe("trackers of a run", () => {
  it("have whole paths, and the addresses that the environment names", () => {
    const environment = { MLFLOW_TRACKING_URI: "http://m:5000", WANDB_BASE_URL: "http://w:8080" };
    const given = [
      { kind: "tensorboard" as const, path: "runs" },
      { kind: "mlflow" as const },
      { kind: "wandb" as const, project: "p", secret: "S" },
    ];
    expect(trackersOf(given, here(environment)).map((each) => tracker.parse(each))).toEqual([
      { kind: "tensorboard", path: "/home/me/project/runs" },
      { kind: "mlflow", url: "http://m:5000", experiment: "spotter" },
      { kind: "wandb", project: "p", secret: "S", url: "http://w:8080" },
    ]);
    const said = [{ kind: "wandb" as const, project: "p", secret: "S", url: "http://own" }];
    expect(trackersOf(said, here(environment))).toEqual(said);
    expect(trackersOf([{ kind: "wandb", project: "p", secret: "S" }], here())).toMatchObject([
      { url: "https://api.wandb.ai" },
    ]);
  });

  it.each([
    ["mlflow", {}, "MLFLOW_TRACKING_URI"],
    ["mlflow", { MLFLOW_TRACKING_URI: "file:///tmp/mlruns" }, "MLFLOW_TRACKING_URI"],
    ["wandb", { WANDB_BASE_URL: "api.wandb.ai" }, "WANDB_BASE_URL"],
  ] as const)("name the variable that an address was to come from: %s %j", (kind, environment, variable) => {
    const given = kind === "mlflow" ? { kind } : { kind, project: "p", secret: "S" };
    expect(() => trackersOf([given], here(environment))).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        where: "trackers[0].url",
        hint: expect.stringContaining(variable) as string,
      }) as Error,
    );
  });

  it("are http or https, without a password in the address", () => {
    for (const url of ["ftp://a", "http://me:pass@a", "a", "file:///etc", undefined])
      expect(tracker.safeParse({ kind: "mlflow", url }).success, url).toBe(false);
    for (const project of ["a/b", "", "../x", "a b"])
      expect(tracker.safeParse({ kind: "wandb", project, secret: "S" }).success, project).toBe(false);
  });
});
