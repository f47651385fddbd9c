import { lockIntrinsics } from "./lock-intrinsics.ts";

/** Names of the modules inside the isolate; the second is what stack traces show. */
export const BUNDLE_MODULE = "bundle.mjs";

/** Fixed, so that an update of workerd does not change what user code sees. */
export const COMPATIBILITY_DATE = "2026-04-01";

/**
 * The main module. It imports the bundle on the first request, so that a module that throws while it loads is
 * an answer with a stack and not a dead process.
 */
export const MAIN_MODULE = `let loaded;
export default {
  async fetch(request) {
    try {
      if (!loaded) {
        loaded = await import("./${BUNDLE_MODULE}");
        lockIntrinsics();
      }
    } catch (error) {
      const isError = error instanceof Error;
      const load = { message: isError ? error.name + ": " + error.message : String(error), stack: isError ? error.stack : "" };
      return Response.json({ load }, { status: 500 });
    }
    if (typeof loaded.default?.fetch !== "function") {
      const load = { message: "the module has no adapter as its default export", stack: "" };
      return Response.json({ load }, { status: 500 });
    }
    return loaded.default.fetch(request);
  },
};
${lockIntrinsics.toString()}
`;
