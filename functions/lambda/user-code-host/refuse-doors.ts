import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import sqlite from "node:sqlite";
import v8 from "node:v8";
import vm from "node:vm";

const OF_PROCESS = [
  ...["kill", "_kill", "_debugProcess", "_debugEnd", "binding", "_linkedBinding", "dlopen", "execve"],
  ...["setuid", "setgid", "seteuid", "setegid", "setgroups", "initgroups"],
];

/**
 * Closes what Node's permission model leaves open: the permission model refuses files, programs, threads,
 * addons and the inspector; signals to the host, databases in files, code from text and engine flags are refused
 * here.
 */
export function refuseDoors(): void {
  replace(process, OF_PROCESS, "process");
  replace(sqlite, ["DatabaseSync", "backup"], "node:sqlite");
  replace(vm, Object.keys(vm), "node:vm");
  replace(v8, ["setFlagsFromString", "startCpuProfile"], "node:v8");
  // Node throws where the permission is missing; whoever asks whether a file is there is told that it is not.
  const { existsSync } = fs;
  fs.existsSync = (path) => {
    try {
      return existsSync(path);
    } catch {
      return false;
    }
  };
  syncBuiltinESMExports();
}

function replace(target: object, names: readonly string[], of: string): void {
  const record = target as Record<string, unknown>;
  for (const name of names) {
    if (typeof record[name] !== "function") continue;
    record[name] = function refused() {
      throw new Error(`${of}.${name} is refused in an isolate`);
    };
  }
}
