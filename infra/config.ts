import { readFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";

export interface StackConfig {
  /** Of the package that is deployed. */
  version: string;
  /** Days that logs are kept; one of the values CloudWatch knows. */
  logRetentionDays: number;
  /** The bucket and the table refuse to be destroyed. */
  protectData: boolean;
  /** On every resource that can have tags. */
  tags: Record<string, string>;
}

const RETENTIONS = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922,
];

/** The `spotter:` settings of the stack, checked. */
export function readConfig(): StackConfig {
  const config = new pulumi.Config("spotter");
  const logRetentionDays = config.getNumber("logRetentionDays") ?? 30;
  if (!RETENTIONS.includes(logRetentionDays)) {
    throw new pulumi.RunError(
      `invalid_input: spotter:logRetentionDays is ${logRetentionDays}; CloudWatch keeps logs for one of ` +
        `${RETENTIONS.join(", ")} days. Set one with \`pulumi config set spotter:logRetentionDays 30\`.`,
    );
  }
  return {
    version: packageVersion(),
    logRetentionDays,
    protectData: config.getBoolean("protectData") ?? true,
    tags: { "spotter:stack": pulumi.getStack(), "spotter:project": pulumi.getProject() },
  };
}

function packageVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
