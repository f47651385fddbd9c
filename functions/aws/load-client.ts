import { SpotterError } from "../../sdk/schema/errors.ts";

/**
 * Loads an AWS client when it is first needed: on one machine none of them is installed.
 *
 * @example
 * const s3 = await loadClient("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
 * @throws SpotterError `package_missing`
 */
export async function loadClient<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new SpotterError("package_missing", `This needs the package ${name}, which is not installed.`, {
      where: name,
      hint: `npm install ${name}`,
      cause,
    });
  }
}

/**
 * Times of clients that have none of their own: the SDK would wait for ever for the answer of a dead connection, and
 * with it whoever reconciles.
 */
export const REQUEST_TIMES = {
  connectionTimeout: 2_000,
  requestTimeout: 15_000,
  throwOnRequestTimeout: true,
};

export interface Lazy<T> {
  /** Loads with the first call and keeps it; a load that failed is tried again by the next one. */
  readonly get: () => Promise<T>;
  /** Forgets it. Resolves to what was loaded: undefined if nothing was, or could not be. */
  readonly take: () => Promise<T | undefined>;
}

/**
 * What is loaded when it is first needed.
 *
 * @example
 * const client = lazy(() => openClient());
 * await (await client.get()).send(command);
 */
export function lazy<T>(load: () => Promise<T>): Lazy<T> {
  let loading: Promise<T> | undefined;
  return {
    get() {
      if (loading !== undefined) return loading;
      const mine = (loading = load());
      mine.catch(() => {
        if (loading === mine) loading = undefined;
      });
      return mine;
    },
    async take() {
      const loaded = loading;
      loading = undefined;
      return await loaded?.catch(() => undefined);
    },
  };
}
