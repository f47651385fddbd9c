import { registerHooks, isBuiltin } from "node:module";
import { Socket } from "node:net";
import { lockIntrinsics } from "../../isolate-host/lock-intrinsics.ts";
import { BUNDLE_MODULE } from "../../isolate-host/main-module.ts";
import type { Load } from "./user-process.ts";
import { frameOf, frameReader } from "./frames.ts";
import { guardNetwork } from "./guard-network.ts";
import { refuseDoors } from "./refuse-doors.ts";
import { printed, say, structuredConsole } from "./structured-console.ts";

/** The name that stacks show and `import.meta.url` tells; as in workerd, and no file. */
const BUNDLE_URL = `file:///bundle/${BUNDLE_MODULE}`;
/** The descriptor that the host opened. */
const HOST_FD = 3;

/** The permission model does not cover its files, and what is replaced in it does not reach its named exports. */
const SQLITE = "node:sqlite";

interface Adapter {
  fetch(request: Request): Promise<Response>;
}

/** The process of user code: the first message is the code, all others are requests, "" a GET. */
export function runUserCode(): () => never {
  const socket = new Socket({ fd: HOST_FD, readable: true, writable: true });
  let adapter: Adapter | undefined;
  let isFirst = true;
  let work = Promise.resolve();
  const answer = async (text: string) => {
    if (!isFirst) return ask(adapter, text);
    isFirst = false;
    adapter = await load(JSON.parse(text) as Load);
    return "200{}";
  };
  const read = frameReader((text) => {
    work = work.then(async () => {
      socket.write(
        frameOf(await answer(text).catch((error: unknown) => `500${JSON.stringify(failed(error))}`)),
      );
    });
  }, Infinity);
  socket.on("data", read);
  socket.on("close", () => process.exit(0));
  // As in workerd, what nobody waits for costs nothing but a line of the log.
  process.on("uncaughtException", (error) => say("error", "Uncaught", error));
  process.on("unhandledRejection", (reason) => say("error", "Uncaught (in promise)", reason));
  return () => {
    throw new Error("This process has no handler.");
  };
}

async function load({ code, allowHosts }: Load): Promise<Adapter> {
  structuredConsole();
  guardNetwork(allowHosts);
  refuseDoors();
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === BUNDLE_URL) return { url: specifier, format: "module", shortCircuit: true };
      if (isBuiltin(specifier) && specifier !== SQLITE) return next(specifier, context);
      throw new Error(`there is no module "${specifier.slice(0, 200)}" in an isolate`);
    },
    load(url, context, next) {
      return url === BUNDLE_URL ? { format: "module", source: code, shortCircuit: true } : next(url, context);
    },
  });
  const loaded = (await import(BUNDLE_URL)) as { default?: Partial<Adapter> };
  lockIntrinsics();
  if (typeof loaded.default?.fetch !== "function") {
    throw new Error("the module has no adapter as its default export");
  }
  return loaded.default as Adapter;
}

async function ask(adapter: Adapter | undefined, text: string): Promise<string> {
  if (!adapter) throw new Error("the module did not load");
  const init = text === "" ? {} : { method: "POST", body: text };
  const response = await adapter.fetch(new Request("http://isolate/", init));
  const answer = `${response.status}${await response.text()}`;
  await printed();
  return answer;
}

function failed(error: unknown): { load: { message: string; stack: string } } {
  const isError = error instanceof Error;
  const message = isError ? `${error.name}: ${error.message}` : String(error);
  return { load: { message, stack: isError ? String(error.stack) : "" } };
}
