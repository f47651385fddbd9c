import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { cloud } from "./cloud.ts";
import { StandInMonitor, type Handler, type Recording } from "./monitor.ts";
import { Empty, engineProto, engineServices, grpc, languageHost, monitorServices } from "./pulumi-proto.ts";
import type { Engine, Grpc } from "./pulumi-proto.ts";

const ROOT = join(import.meta.dirname, "../../..");
const ADDRESS = "127.0.0.1";

export interface HostOptions {
  /** Default: a deployment that comes to its end. */
  preview?: boolean;
  /** As of `pulumi config set`, such as `spotter:removal`. */
  config?: Record<string, string>;
  stack?: string;
}

export interface HostReport extends Recording {
  /** Of the language host: 0, or 32 where it has told why not. */
  exitCode: number | null;
  /** What the program reported by `pulumi.log` or by failing. */
  errors: string[];
  warnings: string[];
  /** What it wrote by itself. */
  text: string;
}

/**
 * Runs the program of the committed Pulumi.yaml under Pulumi's own language host, in a process of its own that
 * starts in the root of the repository, against a stand-in for the engine. It sees what a run within this process
 * cannot: how the host finds and loads the entry, and that the program runs under plain Node.
 */
export async function runUnderHost(options: HostOptions = {}): Promise<HostReport> {
  const { stack = "test", preview = false, config = {} } = options;
  const { name: project, main, runtime, ...committed } = projectFile();
  const monitor = new StandInMonitor({ stack, project, preview, cloud });
  const engine = new StandInEngine();
  const server = new grpc.Server({ "grpc.max_receive_message_length": -1 });
  server.addService(
    monitorServices.ResourceMonitorService,
    served(monitorServices.ResourceMonitorService, monitor),
  );
  server.addService(engineServices.EngineService, served(engineServices.EngineService, engine));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${ADDRESS}:0`, grpc.ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  try {
    const address = `${ADDRESS}:${port}`;
    const { exitCode, text } = await runProcess(
      [
        `--monitor=${address}`,
        `--engine=${address}`,
        `--project=${project}`,
        `--stack=${stack}`,
        "--organization=organization",
        `--root-directory=${ROOT}`,
        `--dry-run=${preview}`,
        "--parallel=16",
        // As Pulumi does: into the folder of `main`, with its file as the program.
        `--pwd=${join(ROOT, dirname(main))}`,
        basename(main),
      ],
      {
        PULUMI_CONFIG: JSON.stringify({ ...committed.config, "aws:region": "eu-central-1", ...config }),
        PULUMI_NODEJS_TYPESCRIPT: String(runtime.options.typescript),
      },
    );
    return { ...monitor.recording(), exitCode, text, errors: engine.errors, warnings: engine.warnings };
  } finally {
    server.forceShutdown();
  }
}

/** Pulumi.yaml, with its defaults as Pulumi hands them to the program: those that are not text as JSON. */
function projectFile() {
  const file = parse(readFileSync(join(ROOT, "Pulumi.yaml"), "utf8")) as {
    name: string;
    main: string;
    runtime: { options: { typescript: boolean } };
    config: Record<string, { default?: unknown }>;
  };
  const defaults = Object.entries(file.config)
    .filter(([, setting]) => setting.default !== undefined)
    .map(([key, { default: value }]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
  return { ...file, config: Object.fromEntries(defaults) as Record<string, string> };
}

async function runProcess(options: string[], environment: Record<string, string>) {
  // Without the stack traces that Pulumi keeps of all its promises, which cost as much as the program.
  const host = spawn(process.execPath, ["--stack-trace-limit=0", languageHost, ...options], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [host.stdout, host.stderr])
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  const [exitCode] = (await once(host, "close")) as [number | null];
  return { exitCode, text };
}

/** The half of the engine that is told of errors, and knows the stack. */
class StandInEngine {
  readonly errors: string[] = [];
  readonly warnings: string[] = [];
  #root = "";

  readonly log: Handler<Engine.LogRequest, InstanceType<typeof Empty>> = (request, answer) => {
    const { ERROR, WARNING } = engineProto.LogSeverity;
    const severity = request.getSeverity();
    if (severity === ERROR) this.errors.push(request.getMessage());
    if (severity === WARNING) this.warnings.push(request.getMessage());
    answer(null, new Empty());
  };

  readonly setRootResource: Handler<Engine.SetRootResourceRequest, Engine.SetRootResourceResponse> = (
    request,
    answer,
  ) => {
    this.#root = request.getUrn();
    answer(null, new engineProto.SetRootResourceResponse());
  };

  readonly getRootResource: Handler<unknown, Engine.GetRootResourceResponse> = (_request, answer) => {
    const response = new engineProto.GetRootResourceResponse();
    response.setUrn(this.#root);
    answer(null, response);
  };
}

/** The calls that `handlers` has; every other is one that this engine does not know, as an older one would not. */
function served(service: object, handlers: object): Grpc.UntypedServiceImplementation {
  const handle = (name: string): Grpc.handleUnaryCall<unknown, unknown> => {
    const handler = (handlers as Record<string, Handler<unknown, unknown> | undefined>)[name];
    if (handler === undefined)
      return (_call, answer) => {
        answer({ code: grpc.status.UNIMPLEMENTED, details: `${name} is not part of the stand-in` });
      };
    return (call, answer) => {
      handler(call.request, answer);
    };
  };
  return Object.fromEntries(Object.keys(service).map((name) => [name, handle(name)]));
}
