import { type Command, InvalidArgumentError, Option } from "commander";
import { gpuClass, type GpuClass } from "../../schema/hardware.ts";
import { durationMs, integer } from "../numbers.ts";

export interface HardwareOptions {
  gpu?: GpuClass;
  orGpu?: GpuClass[];
  gpus?: number;
  spot?: boolean;
  maxLifetime?: number;
  engine?: "onnx" | "vllm";
  vllm?: Record<string, unknown>;
}

export function withHardwareOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--gpu <class>", "GPU of each replica, where there is a choice").choices(gpuClass.options),
    )
    .addOption(
      new Option("--or-gpu <class...>", "taken in turn where there has been no room for ten minutes").choices(
        gpuClass.options,
      ),
    )
    .addOption(new Option("--gpus <n>", "how many of them (default: 1)").argParser(integer))
    .option("--spot", "cheaper, and may be taken away at two minutes' notice")
    .addOption(
      new Option(
        "--engine <engine>",
        "vllm where this home has it (default: onnx, the embedded one)",
      ).choices(["onnx", "vllm"]),
    )
    .addOption(
      new Option("--vllm <setting...>", "settings of vLLM, such as maxModelLen=4096").argParser(setting),
    )
    .addOption(new Option("--max-lifetime <time>", "stop it after, such as 12h").argParser(durationMs));
}

/** Documents for an engine are a few levels deep. */
const MAX_DEPTH = 20;

/** `name=value`; a value that is JSON is what it says, anything else is a text. */
function setting(word: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const at = word.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Write it as name=value.");
  const [name, text] = [word.slice(0, at), word.slice(at + 1)];
  const settings = { ...before, [name]: valueOf(text) };
  const fault = faultIn(settings);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return settings;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What would be lost on the way: whoever copies an object drops such a key without a word. */
function faultIn(value: unknown, depth = 0): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > MAX_DEPTH) return "It is nested too deeply.";
  if (Object.hasOwn(value, "__proto__")) return "__proto__ is no name of a setting.";
  for (const item of Object.values(value)) {
    const fault = faultIn(item, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Undefined if none is given. */
export function hardwareFrom({ gpu, orGpu, gpus, spot }: HardwareOptions) {
  if (gpu === undefined && orGpu === undefined && gpus === undefined && spot === undefined) return undefined;
  return {
    ...(gpu !== undefined && { gpu }),
    ...(orGpu !== undefined && { fallbacks: orGpu }),
    ...(gpus !== undefined && { count: gpus }),
    ...(spot !== undefined && { spot }),
  };
}
