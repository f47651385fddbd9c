import * as pulumi from "@pulumi/pulumi";
import { readConfig, type StackConfig } from "../../infra/config.ts";
import { cloud } from "./engine/cloud.ts";
import { StandInMonitor, type Recording, type Registered } from "./engine/monitor.ts";
import { awaitFeatureSupport } from "./engine/pulumi-proto.ts";

export interface Components extends Recording {
  config: StackConfig;
  all: (type: string) => Registered[];
  /** The one of this type, or of this name among them. */
  only: (type: string, name?: string) => Registered;
}

/**
 * Runs parts of the program against the stand-ins for Pulumi's engine and for AWS. Parts are loaded inside `make`: they
 * belong to the engine that is set when they are.
 *
 * @param make What it returns are the outputs.
 */
export async function recordComponents(
  settings: Record<string, string>,
  make: (config: StackConfig) => Promise<Record<string, unknown>>,
): Promise<Components> {
  const monitor = new StandInMonitor({ stack: "test", project: "spotter", preview: false, cloud });
  const named = Object.entries(settings).map(([name, value]): [string, string] => [`spotter:${name}`, value]);
  pulumi.runtime.setAllConfig({ "aws:region": "eu-central-1", ...Object.fromEntries(named) });
  pulumi.runtime.setMockOptions(monitor, "spotter", "test", false, "organization");
  await awaitFeatureSupport();
  const config = readConfig();
  await pulumi.runtime.runInPulumiStack(() => make(config));
  await pulumi.runtime.disconnect();
  const recording = monitor.recording();
  const all = (type: string) => recording.resources.filter((each) => each.type === type);
  return {
    ...recording,
    config,
    all,
    only: (type, name) => {
      const found = all(type).filter((each) => name === undefined || each.name === name);
      if (found.length === 1 && found[0] !== undefined) return found[0];
      const there = all(type).map((each) => each.name);
      throw new Error(`${found.length} of ${type} ${name ?? ""}; there are ${there.join(", ") || "none"}`);
    },
  };
}
