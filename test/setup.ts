import { vi } from "vitest";

// Loaded before every test file: nothing may reach beyond this machine.
const realFetch = globalThis.fetch;

if (realFetch.name !== "fetchHere") {
  // Files share a process, and it is guarded once.
  globalThis.fetch = function fetchHere(input: string | URL | Request, init?: RequestInit) {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) {
      return Promise.reject(new Error(`A test tried to reach ${url.host}; tests talk to this machine only.`));
    }
    return realFetch(input, init);
  };
}

if (vi.waitFor.name !== "waitLonger") {
  // By default it gives up after a second, which is too soon for processes on a machine that is busy.
  const { waitFor } = vi;
  vi.waitFor = function waitLonger<T>(
    reached: () => T | Promise<T>,
    options: Parameters<typeof waitFor>[1] = {},
  ) {
    return waitFor(reached, typeof options === "number" ? options : { timeout: 10_000, ...options });
  };
}
