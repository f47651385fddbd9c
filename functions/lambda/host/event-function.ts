import { awake } from "./awake.ts";
import type { LambdaContext } from "./function-url.ts";
import { planeOf, type Plane, type PlaneParams } from "./plane.ts";

/** A function that is called by events: of a schedule, of EventBridge, and of those who wake it. */
export function eventFunction(
  params: PlaneParams,
  take: (plane: Plane, event: unknown, context: LambdaContext) => Promise<unknown>,
): (event: unknown, context: LambdaContext) => Promise<unknown> {
  const open = planeOf(params);
  return async (event, context) => {
    const plane = open();
    try {
      return await awake(async () => {
        await plane.prepare();
        const result = await take(plane, event, context);
        await plane.flush();
        return result;
      });
    } catch (error) {
      plane.control.log.error("an event was not taken", { error });
      // Thrown on: Lambda repeats an asynchronous event twice, and keeps what still fails.
      throw error;
    }
  };
}
