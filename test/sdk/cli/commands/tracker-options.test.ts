import { describe, expect, it } from "vitest";
import { trackersFrom } from "../../../../sdk/cli/commands/tracker-options.ts";

describe("options that name trackers", () => {
  it("name none by default", () => {
    expect(trackersFrom({})).toEqual([]);
  });

  it("name each, with the entity of W&B in front of a slash", () => {
    expect(trackersFrom({ tensorboard: "runs", mlflow: true, wandb: "haiku" })).toEqual([
      { kind: "tensorboard", path: "runs" },
      { kind: "mlflow" },
      { kind: "wandb", project: "haiku", secret: "WANDB_API_KEY" },
    ]);
    const options = { mlflow: "http://a:1", mlflowExperiment: "e", mlflowSecret: "M", wandb: "team/haiku" };
    expect(trackersFrom({ ...options, wandbSecret: "W" })).toEqual([
      { kind: "mlflow", url: "http://a:1", experiment: "e", secret: "M" },
      { kind: "wandb", project: "haiku", entity: "team", secret: "W" },
    ]);
  });

  it("refuse to say more of a tracker that is not named", () => {
    expect(() => trackersFrom({ mlflowSecret: "M" })).toThrow("--mlflow-… says more of --mlflow");
    expect(() => trackersFrom({ wandbSecret: "W" })).toThrow("--wandb-… says more of --wandb");
  });
});
