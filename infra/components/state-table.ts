import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";

/**
 * A document is in at most this many indexes at a time (a run: by its state, while it lives, and while
 * somebody or a tracker is to be told of it); each is a pair of attributes of its item.
 */
const INDEXES = ["index1", "index2", "index3", "index4"] as const;

/** Documents, index entries and streams: one table, paid by use. */
export class StateTable extends pulumi.ComponentResource {
  readonly name: pulumi.Output<string>;

  constructor(name: string, config: StackConfig, options?: pulumi.ComponentResourceOptions) {
    super("spotter:index:StateTable", name, {}, options);
    const protect = config.removal === "retain";
    const keys = ["pk", "sk", ...INDEXES.flatMap((index) => [`${index}pk`, `${index}sk`])];
    const table = new aws.dynamodb.Table(
      name,
      {
        billingMode: "PAY_PER_REQUEST",
        hashKey: "pk",
        rangeKey: "sk",
        attributes: keys.map((key) => ({ name: key, type: "S" })),
        globalSecondaryIndexes: INDEXES.map((index) => ({
          name: index,
          keySchemas: [
            { attributeName: `${index}pk`, keyType: "HASH" },
            { attributeName: `${index}sk`, keyType: "RANGE" },
          ],
          projectionType: "ALL",
        })),
        pointInTimeRecovery: { enabled: true },
        serverSideEncryption: { enabled: true },
        deletionProtectionEnabled: protect,
        tags: config.tags,
      },
      { parent: this, protect },
    );
    this.name = table.name;
    this.registerOutputs({ name: this.name });
  }
}
