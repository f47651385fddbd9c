import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { Program } from "../bootstrap/container-program.ts";
import { programFile, type ProgramFile } from "../bundle/program-file.ts";
import type { ArchiveFile } from "../bundle/tar.ts";
import type { StackConfig } from "../config.ts";

export interface ProgramArgs {
  bucketName: pulumi.Input<string>;
  /** All that it is. */
  files: ArchiveFile[] | Promise<ArchiveFile[]>;
  /** Path among the files that is started. */
  entry: string;
}

/** Beside the blobs, see functions/aws/aws-deps/blobs.ts. What is in here is no secret: it is what npm has. */
const FOLDER = "programs";

/** A program of ours in the bucket, under a name that tells its content, for containers to fetch. */
export class ProgramObject extends pulumi.ComponentResource {
  readonly program: pulumi.Output<Program>;

  constructor(
    name: string,
    { bucketName, files, entry }: ProgramArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:ProgramObject", name, {}, options);
    const file: Promise<ProgramFile> = Promise.resolve(files).then((each) => programFile(name, each));
    const key = file.then(({ sha256 }) => `${FOLDER}/${name}-${sha256.slice(0, 16)}.tar.gz`);
    const object = new aws.s3.BucketObjectv2(
      name,
      {
        bucket: bucketName,
        key,
        source: file.then(({ path }) => new pulumi.asset.FileAsset(path)),
        contentType: "application/gzip",
        tags: config.tags,
      },
      // Jobs that wait in a queue were made for the one before; the bucket takes it along when it is destroyed.
      { parent: this, retainOnDelete: true },
    );
    const { region } = aws.getRegionOutput({}, { parent: this });
    this.program = pulumi
      .all([object.bucket, object.key, region, file])
      .apply(([bucket, path, where, { sha256 }]) => ({
        url: `https://${bucket}.s3.${where}.amazonaws.com/${path}`,
        sha256,
        entry,
      }));
    this.registerOutputs({});
  }
}
