import type * as s3 from "@aws-sdk/client-s3";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import { checkBlobKey } from "../../blobs/blob-key.ts";
import { awsError, awsErrorName, awsStatus } from "../aws-error.ts";
import { lazy, loadClient } from "../load-client.ts";

export interface BucketOptions {
  bucket: string;
  /** Folder of the bucket that holds every key, without or with / at its end. Default: the bucket itself. */
  prefix?: string;
  region?: string;
  /** Default: AWS_ENDPOINT_URL, or AWS itself. */
  endpoint?: string;
  /** Default: what the environment offers, as every AWS client finds it. */
  credentials?: s3.S3ClientConfig["credentials"];
  /** How often a request is sent before its failure counts. Default: 5. */
  maxAttempts?: number;
}

export interface LoadedS3 {
  sdk: typeof s3;
  client: s3.S3Client;
}

const MAX_ATTEMPTS = 5;
const CONNECT_TIMEOUT_MS = 5_000;
/** The largest part at some 500 kB/s; without a limit a dead connection would be waited for in vain. */
const REQUEST_TIMEOUT_MS = 240_000;

/** One bucket, or a folder of it, and the client that is loaded when it is first used. */
export class Bucket {
  readonly name: string;
  readonly prefix: string;
  readonly #options: BucketOptions;
  readonly #loaded = lazy(() => this.#load());

  constructor(options: BucketOptions) {
    this.name = options.bucket;
    const folder = (options.prefix ?? "").replace(/\/$/, "");
    if (folder !== "") checkBlobKey(folder);
    this.prefix = folder === "" ? "" : `${folder}/`;
    this.#options = options;
  }

  /** The key within the bucket; what cannot be a blob's key is `invalid_input`. */
  keyOf(key: string): string {
    checkBlobKey(key);
    const whole = `${this.prefix}${key}`;
    if (Buffer.byteLength(whole) <= 1024) return whole;
    throw new SpotterError("invalid_input", `${key.slice(0, 120)}… is too long below ${this.prefix}.`, {
      where: "key",
      hint: "S3 allows 1024 bytes in all.",
    });
  }

  url(key: string): string {
    return `s3://${this.name}/${this.prefix}${key}`;
  }

  /** Makes a call; what it throws gets a code, except what `expected` turns into an answer. */
  async call<T>(
    about: { what: string; needs: string },
    run: (loaded: LoadedS3) => Promise<T>,
    expected: (errorName: string, status: number | undefined) => T | undefined = () => undefined,
  ): Promise<T> {
    const loaded = await this.#loaded.get();
    try {
      return await run(loaded);
    } catch (error) {
      const answer = expected(awsErrorName(error), awsStatus(error));
      if (answer !== undefined) return answer;
      throw awsError(error, { ...about, where: `s3://${this.name}` });
    }
  }

  /** Ends the client's connections. */
  async close(): Promise<void> {
    (await this.#loaded.take())?.client.destroy();
  }

  async #load(): Promise<LoadedS3> {
    const sdk = await loadClient("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
    const { region, endpoint, credentials, maxAttempts } = this.#options;
    const client = new sdk.S3Client({
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(credentials === undefined ? {} : { credentials }),
      // By default a presigned URL would carry the checksum of an empty body, and S3 refuse every upload to it.
      requestChecksumCalculation: "WHEN_REQUIRED",
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
