import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SpotterError } from "../../schema/errors.ts";
import { callerIdentity } from "./ask-account.ts";
import { asked } from "./aws-failure.ts";
import { clientOptions, loadClient } from "./load-client.ts";
import { backendOf, must } from "./pulumi-state.ts";
import type { Pulumi } from "./pulumi.ts";

export interface BackendParams {
  /** `s3`: a bucket of the account, which is made; else a URL for `pulumi login`. */
  backend?: string | undefined;
  region: string | undefined;
}

/**
 * Makes sure that there is somewhere to keep the state of stacks.
 *
 * @throws SpotterError `invalid_input` where nobody is logged in and no backend is named.
 */
export async function ensureBackend(pulumi: Pulumi, { backend, region }: BackendParams): Promise<string> {
  const current = await backendOf(pulumi);
  if (backend === undefined) {
    if (current !== undefined) return current;
    throw new SpotterError("invalid_input", "Pulumi does not know where to keep the state of the stack.", {
      where: "--backend",
      hint:
        "`spotter deploy --backend s3` keeps it in a bucket of your account, which it makes (some cents a month); " +
        "or log in yourself: `pulumi login`.",
    });
  }
  const url = backend === "s3" ? await stateBucket(region) : backend;
  if (url !== current) await must(pulumi, "login", url);
  return url;
}

/**
 * Where the state is a file of one's own, Pulumi encrypts secrets with a passphrase, or with a key of KMS.
 *
 * @throws SpotterError `invalid_input` where it has neither: it would fail in the middle of its first update.
 */
export function checkPassphrase(backend: string, folder: string, stack: string, env = process.env): void {
  if (!/^(s3|file|gs|azblob):/.test(backend)) return;
  if (env.PULUMI_CONFIG_PASSPHRASE !== undefined || env.PULUMI_CONFIG_PASSPHRASE_FILE !== undefined) return;
  const settings = join(folder, `Pulumi.${stack}.yaml`);
  if (existsSync(settings) && /^secretsprovider:/m.test(readFileSync(settings, "utf8"))) return;
  throw new SpotterError(
    "invalid_input",
    "The state has secrets in it, and there is no passphrase for them.",
    {
      where: "PULUMI_CONFIG_PASSPHRASE",
      hint:
        "Choose one, keep it where you keep passwords, and set it for this and every later update: " +
        "export PULUMI_CONFIG_PASSPHRASE=... (or PULUMI_CONFIG_PASSPHRASE_FILE, the name of a file with it).",
    },
  );
}

/** A private, versioned bucket of this account; made if it is not there. Resolves to what Pulumi calls it. */
async function stateBucket(region: string | undefined): Promise<string> {
  if (region === undefined)
    throw new SpotterError("invalid_input", "The bucket for the state needs a region.", {
      where: "--region",
      hint: "Give one with `--region eu-central-1`, or set AWS_REGION.",
    });
  const { account } = await callerIdentity(region);
  const bucket = `spotter-state-${account}-${region}`;
  const sdk = await loadClient("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
  const s3 = new sdk.S3Client(clientOptions({ region }));
  // A bucket of this name may be somebody else's: names are free for all to take.
  const own = { Bucket: bucket, ExpectedBucketOwner: account };
  const needs = "s3:CreateBucket, s3:PutBucketVersioning and s3:PutBucketPublicAccessBlock";
  await asked({ what: `Making the bucket ${bucket}`, needs }, async () => {
    try {
      await s3.send(new sdk.HeadBucketCommand(own));
      return;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "NotFound") throw error;
    }
    await s3.send(
      new sdk.CreateBucketCommand({
        Bucket: bucket,
        // us-east-1 is what there is without a constraint, and may not be given as one.
        ...(region !== "us-east-1" && {
          CreateBucketConfiguration: { LocationConstraint: region as "eu-central-1" },
        }),
      }),
    );
    await s3.send(
      new sdk.PutPublicAccessBlockCommand({
        ...own,
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      }),
    );
    await s3.send(
      new sdk.PutBucketVersioningCommand({ ...own, VersioningConfiguration: { Status: "Enabled" } }),
    );
  });
  return `s3://${bucket}?region=${region}`;
}
