import { join } from "node:path";

/** What a container may need from the machine. Secrets go by grant, never by inheritance. */
const PASSED_ON = ["PATH", "HOME", "LANG", "HF_HOME", "HF_ENDPOINT", "HTTPS_PROXY", "NO_PROXY"];

/**
 * Lets glibc ask for huge pages for large buffers, and take the memory of all threads from one place, since
 * only there it does. Decoding reads every weight for every token, and with 4 kB pages the address translation
 * is a quarter of that; no other C library reads the variable.
 */
const HUGE_PAGES = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1" };

/** The environment every container starts from, given that of this process and the state folder. */
export function containerEnvironment(environment: NodeJS.ProcessEnv, home: string): Record<string, string> {
  const passedOn = PASSED_ON.flatMap((name) =>
    environment[name] === undefined ? [] : [[name, environment[name]] as const],
  );
  return {
    ...HUGE_PAGES,
    ...Object.fromEntries(passedOn),
    // A container's own temporary folder goes with it; compiled code is worth keeping.
    NODE_COMPILE_CACHE: join(home, "compile-cache"),
  };
}
