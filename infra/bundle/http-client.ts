import { join } from "node:path";
import type { Plugin } from "esbuild";

const NAMESPACE = "http-client";

/** undici's way to a request; importing it whole brings fetch, caches, sockets and mocks. */
const CLIENT = `
import Agent from "undici/lib/dispatcher/agent.js";
import apiRequest from "undici/lib/api/api-request.js";
export { Agent };
export function request(url, { dispatcher, ...options }) {
  const { origin, pathname, search } = new URL(url);
  return apiRequest.call(dispatcher, { method: "GET", ...options, origin, path: pathname + search });
}
`;

/** Parsers for processors without SIMD, which functions do not run on, and one that is still an experiment. */
const UNUSED_PARSER = /undici\/lib\/(milo\/(no-)?simd|llhttp\/llhttp-wasm)\.js$/;

/** Of undici, what reaches replicas: a third of the whole. */
export function httpClient(): Plugin {
  return {
    name: NAMESPACE,
    setup(build) {
      build.onResolve({ filter: /^undici$/ }, ({ kind, resolveDir }) =>
        kind === "dynamic-import"
          ? { path: "undici", namespace: NAMESPACE, pluginData: resolveDir }
          : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ pluginData }) => ({
        contents: CLIENT,
        resolveDir: String(pluginData),
      }));
      build.onResolve({ filter: /(simd|llhttp-wasm)\.js$/ }, ({ path, resolveDir }) =>
        UNUSED_PARSER.test(join(resolveDir, path)) ? { path, namespace: "nothing" } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({
        contents: "module.exports = undefined;",
      }));
    },
  };
}
