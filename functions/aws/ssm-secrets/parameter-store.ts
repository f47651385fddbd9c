import type * as ssm from "@aws-sdk/client-ssm";
import { awsError, awsErrorName } from "../aws-error.ts";
import { lazy, loadClient } from "../load-client.ts";

export interface ParameterStoreOptions {
  region?: string;
  /** Default: AWS_ENDPOINT_URL, or AWS itself. */
  endpoint?: string;
  /** Default: what the environment offers, as every AWS client finds it. */
  credentials?: ssm.SSMClientConfig["credentials"];
  /** How often a request is sent before its failure counts. Default: 8, as SSM throttles early. */
  maxAttempts?: number;
  /** Key of KMS that encrypts the values. Default: the account's own key for SSM. */
  kmsKeyId?: string;
}

interface Loaded {
  sdk: typeof ssm;
  client: ssm.SSMClient;
}

const MAX_ATTEMPTS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 15_000;
/** What SSM takes and gives at once. */
const BATCH = 10;
const STANDARD_BYTES = 4096;

/** The parameters below one path of SSM, by the rest of their names. */
export class ParameterStore {
  readonly #path: string;
  readonly #options: ParameterStoreOptions;
  readonly #loaded = lazy(() => this.#load());

  /** @param path with / at its beginning and end. */
  constructor(path: string, options: ParameterStoreOptions) {
    this.#path = path;
    this.#options = options;
  }

  async put(name: string, value: string): Promise<void> {
    const { kmsKeyId } = this.#options;
    const large = Buffer.byteLength(value) > STANDARD_BYTES;
    await this.#call(`Setting ${this.#path}${name}`, "ssm:PutParameter", ({ sdk, client }) =>
      client.send(
        new sdk.PutParameterCommand({
          Name: `${this.#path}${name}`,
          Value: value,
          Type: "SecureString",
          Overwrite: true,
          // One that was ever large stays in the larger tier, which asking for "Standard" would trip over.
          Tier: large ? "Advanced" : "Intelligent-Tiering",
          ...(kmsKeyId === undefined ? {} : { KeyId: kmsKeyId }),
        }),
      ),
    );
  }

  /** Values of those that exist. */
  async get(names: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let start = 0; start < names.length; start += BATCH) {
      const batch = names.slice(start, start + BATCH).map((name) => `${this.#path}${name}`);
      const { Parameters = [] } = await this.#call(
        `Reading parameters below ${this.#path}`,
        "ssm:GetParameters and kms:Decrypt",
        ({ sdk, client }) =>
          client.send(new sdk.GetParametersCommand({ Names: batch, WithDecryption: true })),
      );
      this.#collect(Parameters, found);
    }
    return found;
  }

  /** All of them; without `decrypted` the values are not readable. */
  async all(decrypted: boolean): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    let token: string | undefined;
    do {
      const page = await this.#call(
        `Listing parameters below ${this.#path}`,
        decrypted ? "ssm:GetParametersByPath and kms:Decrypt" : "ssm:GetParametersByPath",
        ({ sdk, client }) =>
          client.send(
            new sdk.GetParametersByPathCommand({
              Path: this.#path,
              WithDecryption: decrypted,
              MaxResults: BATCH,
              NextToken: token,
            }),
          ),
      );
      this.#collect(page.Parameters ?? [], found);
      token = page.NextToken;
    } while (token !== undefined && token !== "");
    return found;
  }

  /** No error if there is none. */
  async delete(name: string): Promise<void> {
    await this.#call(`Removing ${this.#path}${name}`, "ssm:DeleteParameter", async ({ sdk, client }) => {
      try {
        await client.send(new sdk.DeleteParameterCommand({ Name: `${this.#path}${name}` }));
      } catch (error) {
        if (awsErrorName(error) !== "ParameterNotFound") throw error;
      }
    });
  }

  async close(): Promise<void> {
    (await this.#loaded.take())?.client.destroy();
  }

  #collect(parameters: readonly ssm.Parameter[], into: Map<string, string>): void {
    for (const { Name = "", Value } of parameters) {
      if (Name.startsWith(this.#path) && Value !== undefined) into.set(Name.slice(this.#path.length), Value);
    }
  }

  async #call<T>(what: string, needs: string, run: (loaded: Loaded) => Promise<T>): Promise<T> {
    const loaded = await this.#loaded.get();
    try {
      return await run(loaded);
    } catch (error) {
      throw awsError(error, { what, needs, where: this.#path });
    }
  }

  async #load(): Promise<Loaded> {
    const sdk = await loadClient("@aws-sdk/client-ssm", () => import("@aws-sdk/client-ssm"));
    const { region, endpoint, credentials, maxAttempts } = this.#options;
    const client = new sdk.SSMClient({
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(credentials === undefined ? {} : { credentials }),
      maxAttempts: maxAttempts ?? MAX_ATTEMPTS,
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        throwOnRequestTimeout: true,
      },
    });
    return { sdk, client };
  }
}
