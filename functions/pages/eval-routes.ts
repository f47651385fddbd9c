import { evalDetail } from "../../sdk/schema/launch-eval.ts";
import type { Control } from "../control.ts";
import { launchEval } from "../evals/launch.ts";
import { route, type Route } from "../http/route.ts";
import { launchOf } from "./new-eval.ts";
import { newEval } from "./views/new-eval-model.ts";

/** Launches evals for the pages, apart from their other routes: only what reaches isolates can try the rewards. */
export function pageEvalRoutes(control: Control): Route[] {
  return [
    route({
      method: "post",
      path: "/ui/api/evals",
      access: "page",
      summary: "Launch an eval with the rows and rewards of a run or another eval",
      body: newEval,
      response: evalDetail,
      status: 201,
      handle: async ({ body }) => launchEval(control, await launchOf(control, body)),
    }),
  ];
}
