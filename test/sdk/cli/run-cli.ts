import { PassThrough } from "node:stream";
import { onTestFinished, vi } from "vitest";
import { main } from "../../../sdk/cli/main.ts";
import { Client } from "../../../sdk/client.ts";

export interface CliResult {
  code: number;
  out: string;
  err: string;
}

export interface RunCliParams {
  /** Control plane to talk to. */
  url?: string;
  key?: string;
  input?: string;
  signal?: AbortSignal;
  isTerminal?: boolean;
  env?: NodeJS.ProcessEnv;
}

/** Runs a command in this process and collects what it wrote. */
export async function runCli(line: string | string[], params: RunCliParams = {}): Promise<CliResult> {
  const args = typeof line === "string" ? line.split(" ") : line;
  vi.stubEnv("SPOTTER_URL", params.url ?? "");
  vi.stubEnv("SPOTTER_API_KEY", params.key ?? "test-key");
  // The default client remembers where it was connected to.
  Client.setDefault(undefined);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    Client.setDefault(undefined);
  });
  const out = Object.assign(new PassThrough(), { isTTY: params.isTerminal === true });
  const err = new PassThrough();
  const code = await main(args, {
    out,
    err,
    env: params.env ?? {},
    readInput: async () => params.input ?? "",
    ...(params.signal && { signal: params.signal }),
  });
  return { code, out: textOf(out), err: textOf(err) };
}

function textOf(stream: PassThrough): string {
  return String((stream.read() as Buffer | null) ?? "");
}
