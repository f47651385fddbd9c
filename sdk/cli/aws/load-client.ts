import { SpotterError } from "../../schema/errors.ts";

/**
 * Loads an AWS client when a command first needs it: who works on one machine has none of them installed.
 *
 * @example
 * const { STSClient } = await loadClient("@aws-sdk/client-sts", () => import("@aws-sdk/client-sts"));
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

export interface AwsOptions {
  /** Default: AWS_REGION, else the region of the profile. */
  region?: string | undefined;
}

/** What every client is made with. Credentials come from where AWS's own tools look for them. */
export function clientOptions({ region }: AwsOptions): { maxAttempts: number; region?: string } {
  return { maxAttempts: 3, ...(region !== undefined && { region }) };
}
