import { type Command, Option } from "commander";
import { Endpoint } from "../../endpoint.ts";
import { SpotterError } from "../../schema/errors.ts";
import { scalingOf, type ScalingSettings } from "../../schema/scaling.ts";
import { type CliContext, print, printJson } from "../context.ts";
import { durationMs, integer } from "../numbers.ts";
import { pairs } from "../render/table.ts";
import { durationText } from "../render/time.ts";
import { verb } from "../verb.ts";

/** Scaling settings as options name them. */
export interface ScalingOptions {
  min?: number;
  max?: number;
  buffer?: number;
  target?: number;
  idleTimeout?: number;
  scaleDownWindow?: number;
  hold?: number;
  queueLimit?: number;
}

export function scaleCommand(context: CliContext): Command {
  const command = verb("scale <name>", "Show or change how an endpoint follows its load; nothing restarts", [
    "spotter endpoint scale nano",
    "spotter endpoint scale nano --min 0 --max 4 --idle-timeout 10m",
    "spotter endpoint scale nano --min 2",
  ]);
  return withScalingOptions(command).action(
    async (name: string, { json, ...options }: ScalingOptions & { json?: boolean }) => {
      const { signal } = context;
      const endpoint = await Endpoint.get(name, { signal });
      const scaling = scalingFrom(options);
      if (scaling !== undefined) await endpoint.update({ scaling, signal });
      if (json) return printJson(context, endpoint.record);
      for (const line of pairs(shown(endpoint))) print(context, line);
    },
  );
}

export function withScalingOptions(command: Command): Command {
  return command
    .addOption(new Option("--min <n>", "replicas that stay up; 0 lets it sleep").argParser(integer))
    .addOption(new Option("--max <n>", "most replicas").argParser(integer))
    .addOption(new Option("--buffer <n>", "spare replicas while there is load").argParser(integer))
    .addOption(new Option("--target <n>", "requests at a time for one replica").argParser(integer))
    .addOption(new Option("--idle-timeout <time>", "sleep after, such as 10m").argParser(durationMs))
    .addOption(new Option("--scale-down-window <time>", "low load before fewer").argParser(durationMs))
    .addOption(new Option("--hold <time>", "longest wait for a replica").argParser(durationMs))
    .addOption(new Option("--queue-limit <n>", "requests that may wait").argParser(integer));
}

/** Undefined if none is given. */
export function scalingFrom(options: ScalingOptions): ScalingSettings | undefined {
  const { min, max, buffer, queueLimit } = options;
  const settings: ScalingSettings = {
    min,
    max,
    buffer,
    queueLimit,
    targetConcurrency: options.target,
    idleTimeoutMs: options.idleTimeout,
    scaleDownWindowMs: options.scaleDownWindow,
    holdMs: options.hold,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function shown({ record, name }: Endpoint): Record<string, string> {
  if (record.scaling === undefined) {
    throw new SpotterError("version_mismatch", `The server does not say how ${name} scales.`, {
      hint: "It is older than this command: restart it with `spotter down`, then try again.",
    });
  }
  const { min, max, buffer, targetConcurrency, queueLimit, ...times } = scalingOf(record.scaling);
  return {
    replicas: `${record.replicas.length} of ${record.desired}`,
    min: String(min),
    max: String(max),
    buffer: String(buffer),
    target: String(targetConcurrency),
    "idle timeout": min > 0 ? "never sleeps" : durationText(times.idleTimeoutMs),
    "scale-down window": durationText(times.scaleDownWindowMs),
    hold: durationText(times.holdMs),
    "queue limit": String(queueLimit),
  };
}
