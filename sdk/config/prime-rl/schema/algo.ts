import * as z from "zod";
import { FrozenModel } from "./client.ts";
import { float, freeDict, off, section, text, variants } from "./fields.ts";
import { renderer } from "./renderer.ts";

const Sampling = z.strictObject({
  source: z
    .union([z.literal("policy"), FrozenModel])
    .default("policy")
    .meta({ description: "Who writes the rollouts: the policy, or a frozen model with its address." }),
});
const sampling = section(Sampling, "Who writes the rollouts.");

const LengthPenalty = z.strictObject({
  type: z.literal("linear").default("linear"),
  num_output_tokens_weight: float("What written tokens cost.", 0.25, { min: 0 }),
  num_input_tokens_weight: float("What read tokens cost.", 0.1, { min: 0 }),
  num_turns_weight: float("What turns cost.", 0.1, { min: 0 }),
});
const lengthPenalty = off(LengthPenalty, "Rewards shrink with length, the more the better a group did.");

const EchoRole = z.strictObject({ alpha: float("The weight of the role's tokens.", 0.1, { above: 0 }) });
const EchoRoles = z.strictObject({
  system: off(EchoRole, "Learn system messages."),
  user: off(EchoRole, "Learn user messages."),
  assistant: off(EchoRole, "Learn assistant messages that the environment gave."),
  tool: off(EchoRole, "Learn tool results."),
});
const EchoFilter = z.strictObject({
  import_path: text("A function that says which tokens stay: my_module.my_filter."),
  kwargs: freeDict("Arguments of the function."),
});

const Grpo = z.strictObject({ sampling, type: z.literal("grpo"), length_penalty: lengthPenalty });
const Echo = z.strictObject({
  sampling,
  type: z.literal("echo"),
  length_penalty: lengthPenalty,
  roles: EchoRoles.prefault({ tool: {} } as never).meta({
    description:
      "The roles whose given tokens are learned too. Naming one replaces the default, which is tool.",
  }),
  filter: off(EchoFilter, "A function that leaves out some of these tokens."),
});
const MaxRl = z.strictObject({ sampling, type: z.literal("max_rl") });
const Opd = z.strictObject({
  sampling,
  type: z.literal("opd"),
  teacher: FrozenModel.meta({ description: "The frozen model to come close to, token by token." }),
});
const Opsd = z.strictObject({
  sampling,
  type: z.literal("opsd"),
  demo_key: text("The field of a task with an expert's answer.", "demonstration"),
  template: text(
    "The system message that shows it; {demonstration} stands for the answer.",
    "Here is an example of an expert response:\n<demonstration>\n{demonstration}\n</demonstration>",
  ),
  renderer,
});
const Sft = z.strictObject({ sampling, type: z.literal("sft") });

const members = [Grpo, Echo, MaxRl, Opd, Opsd, Sft] as const;

export const algo = variants("type", members, "grpo", "What is learned from the rollouts, and from whom.");

/** The algorithm of one environment; null means the orchestrator's. */
export const environmentAlgo = z
  .discriminatedUnion("type", [...members])
  .nullable()
  .default(null)
  .meta({
    description: "An algorithm of its own; null means the orchestrator's.",
    defaultVariant: "grpo",
  });
