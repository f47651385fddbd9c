import { createHash, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { IsolateBundle } from "../../ports/isolates.ts";
import { ARCHITECTURE, type LambdaContext } from "./params.ts";

const stretch = promisify<string, string, number, Buffer>(scrypt);

/** Lambda takes 64 characters. */
const MAX_STACK = 30;
const DIGEST = 24;

/** All of this stack's functions start like this, and nothing else does. */
export function namePrefix(stack: string): string {
  return `${stack.slice(0, MAX_STACK)}-isolate-`;
}

/**
 * The same for the same code, grants, host and settings, on every control plane of the stack: functions never
 * change, and code with a grant never shares a function with code without. Values of secrets are part of it but
 * cannot be found from it by trying likely ones, because each try costs what scrypt costs.
 */
export async function functionName(bundle: IsolateBundle, context: LambdaContext): Promise<string> {
  const { params, memoryMiB, functionTimeoutS } = context;
  const { stack, hostCode, roleArn, network, architecture = ARCHITECTURE } = params;
  const secrets = Object.entries(bundle.secrets).sort(([a], [b]) => (a < b ? -1 : 1));
  const grants = secrets.length === 0 ? "" : await digestOf(JSON.stringify(secrets), bundle.sha256);
  const hosts = [...(bundle.allowHosts ?? [])].sort();
  const settings = [stack, roleArn, network, memoryMiB, functionTimeoutS, architecture];
  const identity = createHash("sha256").update(
    JSON.stringify([
      bundle.sha256,
      grants,
      hosts,
      settings,
      createHash("sha256").update(hostCode).digest("hex"),
    ]),
  );
  return namePrefix(stack) + identity.digest("hex").slice(0, DIGEST);
}

async function digestOf(text: string, salt: string): Promise<string> {
  return (await stretch(text, salt, 32)).toString("hex");
}
