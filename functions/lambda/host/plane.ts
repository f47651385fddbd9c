import { SpotterError } from "../../../sdk/schema/errors.ts";
import { openPorts, type AwsAdapters, type OpenOptions } from "../../aws/aws-deps/open.ts";
import type { Settings } from "../../aws/aws-deps/adapter.ts";
import type { Holds } from "../../gateway/hold.ts";
import { createControl, type Control, type ControlOptions } from "../../control.ts";

/** The control plane of one function, which lives from its cold start to its end. */
export interface Plane {
  control: Control;
  settings: Settings;
  /** Makes ready for one event. */
  prepare(): Promise<void>;
  /** Finishes what must not wait until the function is asked again: it stands still in between. */
  flush(): Promise<void>;
}

export interface PlaneParams {
  adapters: AwsAdapters;
  probe?: ControlOptions["probe"];
  /** Called instead of the function of that name, by the one that does it itself. */
  wake?: Partial<Pick<ControlOptions, "wake" | "wakeWebhooks">>;
  /** Keeps text of containers or user code: what is secret in it must be known first. */
  keepsText?: boolean;
  /** How long requests are held for a replica. Default: as where nothing is in front that gives up. */
  holds?: Holds;
  /** What must be done before each event. */
  beforeEach?: (control: Control) => Promise<void>;
  /** What else must be done before the function stands still. */
  afterEach?: (control: Control) => Promise<void>;
}

/**
 * Opens the plane with the first event, and answers with the same one from then on.
 * The environment is that of the process by default.
 */
export function planeOf({
  adapters,
  probe,
  wake,
  keepsText,
  holds,
  beforeEach,
  afterEach,
}: PlaneParams): (environment?: OpenOptions["environment"]) => Plane {
  let plane: Plane | undefined;
  return (environment = process.env) => (plane ??= open(environment));

  function open(environment: OpenOptions["environment"]): Plane {
    const opened = openPorts(adapters, { environment, readsAtUse: true });
    const deps = { ...opened, config: { ...opened.config, ...(holds && { holds }) } };
    const control = createControl(deps, {
      wake: () => deps.shared.wake("reconciler"),
      wakeWebhooks: () => deps.shared.wake("webhooks"),
      probe: probe ?? (() => Promise.resolve(false)),
      shutdown: refuseShutdown,
      ...wake,
    });
    deps.log.info("cold start", { version: deps.config.version });
    return {
      control,
      settings: deps.settings,
      prepare: async () => {
        await Promise.all([keepsText === true && deps.learnSecrets(), beforeEach?.(control)]);
      },
      flush: async () => {
        await afterEach?.(control);
        await deps.flushWakes();
      },
    };
  }
}

function refuseShutdown(): never {
  throw new SpotterError("route_unsupported", "On AWS there is no single process to end.", {
    hint: "`spotter endpoint stop` and `spotter run cancel` end what runs; `pulumi destroy` removes the stack.",
  });
}
