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
