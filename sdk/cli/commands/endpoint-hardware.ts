import { type Command, Option } from "commander";
import { gpuClass, type GpuClass } from "../../schema/hardware.ts";
import { durationMs, integer } from "../numbers.ts";

export interface HardwareOptions {
  gpu?: GpuClass;
  orGpu?: GpuClass[];
  gpus?: number;
  spot?: boolean;
  maxLifetime?: number;
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
    .addOption(new Option("--max-lifetime <time>", "stop it after, such as 12h").argParser(durationMs));
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
