import type { cloud } from "./cloud.ts";
import { Empty, grpc, monitorProto, Struct, type Grpc, type Monitor } from "./pulumi-proto.ts";
import { decode, secret, UNKNOWN, type Properties } from "./properties.ts";

/** What a program asked for, as the engine is told. */
export interface Registered {
  urn: string;
  type: string;
  name: string;
  /** URN; empty for the stack itself. */
  parent: string;
  /** Made by a provider; otherwise it only groups others. */
  custom: boolean;
  inputs: Record<string, unknown>;
  /** Paths into `inputs` that are marked secret. */
  secrets: string[];
  /** Paths into `inputs` that are not known yet. */
  unknowns: string[];
  /** URNs of what must be there before; it is destroyed after this. */
  dependencies: string[];
  protect: boolean;
  retainOnDelete: boolean;
  ignoreChanges: string[];
  /** URN of what takes this with it when it is destroyed. */
  deletedWith: string;
  additionalSecretOutputs: string[];
  /** Of the provider. */
  version: string;
}

export interface Recording {
  /** Without the stack itself. In the order of registration. */
  resources: Registered[];
  /** What the stack exports, secrets unwrapped. */
  outputs: Record<string, unknown>;
  secretOutputs: string[];
}

export interface MonitorOptions {
  stack: string;
  project: string;
  /** Nothing is created, so no output is known. */
  preview: boolean;
  cloud: typeof cloud;
}

type Answer<T> = (error: Partial<Grpc.ServiceError> | null, response?: T) => void;
/** One call, as a client in this process and a server of gRPC both can make it. */
export type Handler<Request, Response> = (request: Request, answer: Answer<Response>) => void;

const STACK = "pulumi:pulumi:Stack";
const { ResourceMonitorFeature: Feature } = monitorProto;
const FEATURES = [
  Feature.RESOURCE_MONITOR_FEATURE_SECRETS,
  Feature.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
  Feature.RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES,
  Feature.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
  Feature.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
  Feature.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
];

/**
 * The half of Pulumi's engine that a program talks to. It writes down what the program registers and answers as
 * AWS would have. It refuses what the real one refuses: the same URN twice, and functions nobody knows.
 */
export class StandInMonitor {
  readonly #options: MonitorOptions;
  readonly #registered = new Map<string, Registered>();
  #outputs: Properties = { values: {}, secrets: [], unknowns: [] };

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  recording(): Recording {
    return {
      resources: [...this.#registered.values()].filter(({ type }) => type !== STACK),
      outputs: this.#outputs.values,
      secretOutputs: this.#outputs.secrets,
    };
  }

  readonly getDeploymentInfo: Handler<unknown, Monitor.DeploymentInfo> = (_request, answer) => {
    const response = new monitorProto.DeploymentInfo();
    response.setSupportedfeaturesList(FEATURES);
    answer(null, response);
  };

  readonly registerResource: Handler<Monitor.RegisterResourceRequest, Monitor.RegisterResourceResponse> = (
    request,
    answer,
  ) => {
    const raw = (request.getObject()?.toJavaScript() ?? {}) as Record<string, unknown>;
    const entry = this.#read(request, raw);
    if (this.#registered.has(entry.urn)) {
      answer({ code: grpc.status.ALREADY_EXISTS, details: `Duplicate resource URN '${entry.urn}'` });
      return;
    }
    this.#registered.set(entry.urn, entry);
    const response = new monitorProto.RegisterResourceResponse();
    response.setUrn(entry.urn);
    if (entry.custom) {
      const { id, outputs } = this.#options.cloud.created(entry);
      const { preview } = this.#options;
      response.setId(preview ? "" : id);
      response.setObject(Struct.fromJavaScript(stateOf(entry, raw, outputs, preview) as never));
    }
    answer(null, response);
  };

  readonly registerResourceOutputs: Handler<
    Monitor.RegisterResourceOutputsRequest,
    InstanceType<typeof Empty>
  > = (request, answer) => {
    if (this.#registered.get(request.getUrn())?.type === STACK)
      this.#outputs = decode(request.getOutputs()?.toJavaScript() ?? {});
    answer(null, new Empty());
  };

  readonly invoke: Handler<Monitor.ResourceInvokeRequest, Monitor.ResourceInvokeResponse> = (
    request,
    answer,
  ) => {
    const args = decode(request.getArgs()?.toJavaScript() ?? {});
    try {
      const found = this.#options.cloud.asked(request.getTok(), args.values);
      const response = new monitorProto.ResourceInvokeResponse();
      response.setReturn(Struct.fromJavaScript(found as never));
      answer(null, response);
    } catch (error) {
      answer({ code: grpc.status.NOT_FOUND, details: String(error) });
    }
  };

  readonly signalAndWaitForShutdown: Handler<unknown, InstanceType<typeof Empty>> = (_request, answer) => {
    answer(null, new Empty());
  };

  #read(request: Monitor.RegisterResourceRequest, raw: Record<string, unknown>): Registered {
    const [type, name, parent] = [request.getType(), request.getName(), request.getParent()];
    const { values, secrets, unknowns } = decode(raw);
    return {
      urn: this.#urn(parent, type, name),
      type,
      name,
      parent,
      custom: request.getCustom(),
      inputs: values,
      secrets,
      unknowns,
      dependencies: request.getDependenciesList(),
      protect: request.getProtect() ?? false,
      retainOnDelete: request.getRetainondelete() ?? false,
      ignoreChanges: request.getIgnorechangesList(),
      deletedWith: request.getDeletedwith(),
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      version: request.getVersion(),
    };
  }

  /** As the engine makes them: of the types of all parents, but of the last name alone. */
  #urn(parent: string, type: string, name: string): string {
    const above = parent.split("::")[2];
    const types = above === undefined || above === STACK ? type : `${above}$${type}`;
    return `urn:pulumi:${this.#options.stack}::${this.#options.project}::${types}::${name}`;
  }
}

/** What the program sees of a resource: what it asked for and what AWS made of it. */
function stateOf(
  { additionalSecretOutputs }: Registered,
  raw: Record<string, unknown>,
  outputs: Record<string, unknown>,
  preview: boolean,
): Record<string, unknown> {
  const made = Object.entries(outputs).map(([key, value]): [string, unknown] => {
    const seen = preview ? UNKNOWN : value;
    return [key, additionalSecretOutputs.includes(key) ? secret(seen) : seen];
  });
  return { ...Object.fromEntries(made), ...raw };
}
