/**
 * The one file of every user-code function on Lambda, beside the user's bundle: started by Lambda it is the
 * handler; started by itself with `--user-code` it is the process in which user code runs.
 *
 * User code gets a process of its own because a loop in JavaScript can only be ended from outside: the handler
 * survives, answers why, and the next row does not wait for a new execution environment. It also keeps Lambda's
 * own environment, with the role's credentials, out of the process that user code sees.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import {
  SETTINGS_FILE,
  USER_CODE_FILE,
  type HostSettings,
  type Invocation,
  type InvocationReply,
} from "../isolate-host/invocation.ts";
import { createHost } from "./user-code-host/host.ts";
import { runUserCode } from "./user-code-host/run-user-code.ts";

const CHILD_FLAG = "--user-code";

export const handler: (invocation: Invocation) => Promise<InvocationReply> = process.argv.includes(CHILD_FLAG)
  ? runUserCode()
  : createHost({
      file: import.meta.filename,
      flag: CHILD_FLAG,
      code: readBeside(USER_CODE_FILE),
      settings: JSON.parse(readBeside(SETTINGS_FILE)) as HostSettings,
    });

function readBeside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
