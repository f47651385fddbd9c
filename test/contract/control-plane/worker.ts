import { memoryPlane } from "./memory-plane.ts";

let plane: ReturnType<typeof memoryPlane> | undefined;

/** The control plane as a Worker. Made at the first request: before it, a Worker has no randomness. */
export default {
  fetch(request: Request): Response | Promise<Response> {
    return (plane ??= memoryPlane()).app.fetch(request);
  },
};
