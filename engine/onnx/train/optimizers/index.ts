import type { OptimizerSetup } from "../../engine-api.ts";
import type { SessionParams } from "../../graph/session.ts";
import type { ParameterSet } from "../../models/parameter-set.ts";
import { AdamW } from "./adamw.ts";
import { Muon } from "./muon.ts";
import { Optimizer, type UpdateRule } from "./optimizer.ts";
import { Sgd } from "./sgd.ts";
import { SignSgd } from "./sign-sgd.ts";

/** The optimizer that a setup asks for. The caller must `close()` it. */
export function createOptimizer(
  parameters: ParameterSet,
  setup: OptimizerSetup,
  session: SessionParams,
): Optimizer {
  return new Optimizer(ruleOf(parameters, setup, session), setup);
}

function ruleOf(parameters: ParameterSet, setup: OptimizerSetup, session: SessionParams): UpdateRule {
  switch (setup.type) {
    case "adamw":
      return new AdamW(parameters, setup);
    case "sgd":
      return new Sgd(parameters, setup);
    case "muon":
      return new Muon(parameters, setup, session);
    case "sign_sgd":
      return new SignSgd(parameters, setup);
  }
}
