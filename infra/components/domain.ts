import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "../config.ts";

export interface DomainCertificateArgs {
  /** `gym.example.com` */
  name: string;
  /** Zone of Route 53 that it is in. */
  zoneId: string;
  /** Of the certificate. CloudFront takes only those of us-east-1. Default: that of the stack. */
  region?: string;
}

/** A certificate that Route 53 proves and AWS renews. */
export class DomainCertificate extends pulumi.ComponentResource {
  /** Known when the certificate can be used. */
  readonly arn: pulumi.Output<string>;

  constructor(
    name: string,
    { name: domainName, zoneId, region }: DomainCertificateArgs,
    config: StackConfig,
    options?: pulumi.ComponentResourceOptions,
  ) {
    super("spotter:index:DomainCertificate", name, {}, options);
    const parent = { parent: this };
    const place = region === undefined ? {} : { region };
    const certificate = new aws.acm.Certificate(
      name,
      { domainName, validationMethod: "DNS", tags: config.tags, ...place },
      parent,
    );
    const proof = certificate.domainValidationOptions.apply(([first]) => {
      if (first === undefined) throw new Error(`AWS says nothing of how ${domainName} is to be proved.`);
      return first;
    });
    const record = new aws.route53.Record(
      `${name}-proof`,
      {
        zoneId,
        name: proof.resourceRecordName,
        type: proof.resourceRecordType,
        records: [proof.resourceRecordValue],
        ttl: 300,
        // Two certificates of one name are proved by the same record.
        allowOverwrite: true,
      },
      parent,
    );
    const validation = new aws.acm.CertificateValidation(
      name,
      { certificateArn: certificate.arn, validationRecordFqdns: [record.fqdn], ...place },
      parent,
    );
    this.arn = validation.certificateArn;
    this.registerOutputs({ arn: this.arn });
  }
}

/** Where a name leads. */
export interface AliasTarget {
  domainName: pulumi.Input<string>;
  zoneId: pulumi.Input<string>;
}

/** Lets a name lead to a distribution or a load balancer. */
export function aliasRecords(
  name: string,
  domain: { name: string; zoneId: string },
  target: AliasTarget,
  { types, ...options }: { types: ("A" | "AAAA")[] } & pulumi.CustomResourceOptions,
): void {
  for (const type of types) {
    new aws.route53.Record(
      `${name}-${type.toLowerCase()}`,
      {
        zoneId: domain.zoneId,
        name: domain.name,
        type,
        aliases: [{ name: target.domainName, zoneId: target.zoneId, evaluateTargetHealth: false }],
      },
      options,
    );
  }
}
