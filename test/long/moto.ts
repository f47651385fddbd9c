import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, it } from "vitest";

interface Moto {
  endpoint: string;
  stop: () => Promise<void>;
}

// One request at a time, because moto reads and writes without a lock. Ends with whoever holds its input.
const SERVER = `
import os, sys, threading
from werkzeug.serving import make_server
from moto.moto_server import werkzeug_app as moto
application = moto.DomainDispatcherApplication(moto.create_backend_app)
handler = getattr(moto, "MotoRequestHandler", None)
server = make_server("127.0.0.1", 0, application, request_handler=handler)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print(server.server_port, flush=True)
server.serve_forever()
`;

const MAX_TOLD_LINES = 20;
const PYTHON = process.env["SPOTTER_TEST_PYTHON"] || "python3";

/**
 * A second opinion on AWS: the services of the Python package moto, which knows them from elsewhere than the
 * emulators of `npm test`. `pip install "moto[server]"` brings it; SPOTTER_TEST_PYTHON names a Python that has it.
 *
 * Runs tests against a server of their own. Where moto is missing there is one skipped test, and the reason on
 * stderr.
 */
export function onMoto(what: string, tests: (endpoint: () => string) => void): void {
  const missing = whyWithout();
  if (missing !== undefined) {
    process.stderr.write(`Skipped: ${what} on moto. ${missing}\n`);
    it.skip(`${what} on moto`);
    return;
  }
  describe(`${what} on moto`, () => {
    let moto: Moto | undefined;
    beforeAll(async () => {
      moto = await startMoto();
    }, 60_000);
    afterAll(async () => {
      await moto?.stop();
    });
    tests(() => moto?.endpoint ?? "");
  });
}

async function startMoto(): Promise<Moto> {
  const child = spawn(PYTHON, ["-c", SERVER], { stdio: ["pipe", "pipe", "pipe"] });
  const errors: string[] = [];
  createInterface(child.stderr).on("line", (line) => {
    // Then come the requests, one a line.
    if (errors.length < MAX_TOLD_LINES) errors.push(line);
  });
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout);
  const first = await Promise.race([once(lines, "line"), exited.then(() => undefined)]);
  if (first === undefined) throw new Error(`moto's server ended at once: ${errors.join("\n")}`);
  return {
    endpoint: `http://127.0.0.1:${String(first[0])}`,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

function whyWithout(): string | undefined {
  try {
    execFileSync(PYTHON, ["-c", "import moto.server"], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return `${PYTHON} has no moto.server (${text.trim().split("\n").at(-1)})`;
  }
}
