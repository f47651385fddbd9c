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

/** `name=value`; a value that is JSON is what it says, anything else is a text. */
function setting(word: string, before: Record<string, unknown> = {}): Record<string, unknown> {
  const at = word.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Write it as name=value.");
  const [name, text] = [word.slice(0, at), word.slice(at + 1)];
  try {
    return { ...before, [name]: JSON.parse(text) as unknown };
  } catch {
    return { ...before, [name]: text };
  }
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
