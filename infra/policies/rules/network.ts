import { NAT_GATEWAYS, OPEN_INGRESS } from "../reasons.ts";
import { at, eachRule, listAt, type Resource } from "../rule.ts";

export const noNatGateways = eachRule(
  "no-nat-gateways",
  "There are no NAT gateways, which cost by the hour and by the byte also while nothing runs, without a reason.",
  ({ type, name }) =>
    type === "aws:ec2/natGateway:NatGateway" && NAT_GATEWAYS[name] === undefined
      ? ["use public subnets without ingress, and gateway endpoints"]
      : [],
);

const EVERYWHERE = new Set(["0.0.0.0/0", "::/0"]);

function sourcesOf({ type, props }: Resource): unknown[] {
  switch (type) {
    case "aws:ec2/securityGroup:SecurityGroup":
    case "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup":
      return listAt(props, "ingress").flatMap((rule) => [
        ...listAt(rule, "cidrBlocks"),
        ...listAt(rule, "ipv6CidrBlocks"),
      ]);
    case "aws:ec2/securityGroupRule:SecurityGroupRule":
      return at(props, "type") === "ingress"
        ? [...listAt(props, "cidrBlocks"), ...listAt(props, "ipv6CidrBlocks")]
        : [];
    case "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule":
      return [...listAt(props, "cidrIpv4"), ...listAt(props, "cidrIpv6")];
    default:
      return [];
  }
}

export const noOpenIngress = eachRule(
  "no-open-ingress",
  "Nothing can be reached from everywhere, but for what has a reason in reasons.ts.",
  (resource) =>
    sourcesOf(resource)
      .filter((source) => EVERYWHERE.has(String(source)) && OPEN_INGRESS[resource.name] === undefined)
      .map((source) => `lets in ${String(source)}`),
);

export const instancesNeedTokens = eachRule(
  "instances-need-tokens",
  "Instances answer questions about themselves, their role's credentials among them, with a token only (IMDSv2).",
  ({ type, props }) => {
    const isInstance =
      type === "aws:ec2/launchTemplate:LaunchTemplate" || type === "aws:ec2/instance:Instance";
    return isInstance && at(props, "metadataOptions.httpTokens") !== "required"
      ? ['needs metadataOptions.httpTokens "required"']
      : [];
  },
);
