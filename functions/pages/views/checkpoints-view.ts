import type { Checkpoint } from "../../../sdk/schema/checkpoint.ts";
import { weightsText } from "../../../sdk/schema/checkpoint-weights.ts";
import { bytesText, numberText } from "./format.ts";
import { h, type View } from "./h.ts";
import { headline } from "./home-view.ts";
import { agoView } from "./parts.ts";

export interface CheckpointsProps {
  checkpoints: readonly Checkpoint[];
  nowMs: number;
  launching?: string | undefined;
  onChat?: (checkpoint: Checkpoint) => void;
}

/** What a run leaves, newest first, each a click away from talking to it. */
export function checkpointsView(props: CheckpointsProps): View {
  const { checkpoints } = props;
  if (checkpoints.length === 0)
    return h(
      "p",
      { class: "mute" },
      "None yet. A run saves every ",
      h("code", null, "saveEvery"),
      " steps and at its end.",
    );
  return h(
    "ul",
    { class: "checkpoints" },
    ...checkpoints.toReversed().map((each) => checkpointView(props, each)),
  );
}

function checkpointView({ nowMs, launching, onChat }: CheckpointsProps, checkpoint: Checkpoint): View {
  const size = checkpoint.files.reduce((sum, file) => sum + file.size, 0);
  const result = headline(checkpoint.metrics ?? {});
  const isBusy = launching === checkpoint.id;
  const weights = weightsText(checkpoint);
  return h(
    "li",
    { key: checkpoint.id },
    h(
      "div",
      null,
      h("strong", { class: "number" }, `Step ${checkpoint.step}`),
      result === undefined ? "" : ` ${result.label} ${numberText(result.value)}`,
      h(
        "span",
        { class: "mute facts" },
        `${checkpoint.kind === "lora" ? "LoRA, " : ""}${bytesText(size)}, `,
        agoView(checkpoint.createdAtMs, nowMs),
      ),
      weights === undefined ? "" : h("span", { class: "mute" }, ` Weights: ${weights}`),
    ),
    weights === undefined
      ? h(
          "button",
          {
            type: "button",
            disabled: launching !== undefined,
            onClick: () => onChat?.(checkpoint),
            "aria-label": `${isBusy ? "Launching …" : "Chat with it"}, step ${checkpoint.step}`,
          },
          isBusy ? "Launching …" : "Chat with it",
        )
      : "",
    h(
      "details",
      null,
      h("summary", null, "Files"),
      h("p", null, h("code", null, checkpoint.path)),
      h("pre", null, `npx spotter checkpoint download ${checkpoint.id}`),
      weights === undefined ? "" : h("pre", null, `npx spotter checkpoint convert ${checkpoint.id}`),
    ),
  );
}
