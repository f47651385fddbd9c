import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/run.css";
import "./style/chat.css";
import { startEndpoint } from "./endpoint.ts";
import { startHome } from "./home.ts";
import { startNewEval } from "./new-eval.ts";
import { startRun } from "./run.ts";

const main = document.querySelector<HTMLElement>("main");
const root = document.querySelector<HTMLElement>("#live");
const id = main?.dataset["id"] ?? "";

if (root !== null) {
  if (main?.dataset["page"] === "home") startHome(root);
  if (main?.dataset["page"] === "run") startRun(root, id);
  if (main?.dataset["page"] === "endpoint") startEndpoint(root, id);
  if (main?.dataset["page"] === "new-eval") startNewEval(root);
}
