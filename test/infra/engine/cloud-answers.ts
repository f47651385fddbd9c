type Answer = (args: Record<string, unknown>) => Record<string, unknown>;

const ZONES = ["a", "b", "c"];

/** What AWS answers to the functions that a program may call, by their tokens. */
export const answers: Record<string, Answer> = {
  "aws:index/getRegion:getRegion": () => ({
    id: "eu-central-1",
    name: "eu-central-1",
    region: "eu-central-1",
  }),
  "aws:index/getPartition:getPartition": () => ({ id: "aws", partition: "aws", dnsSuffix: "amazonaws.com" }),
  "aws:index/getCallerIdentity:getCallerIdentity": () => ({
    id: "123456789012",
    accountId: "123456789012",
    arn: "arn:aws:iam::123456789012:user/deployer",
    userId: "AIDA0123456789",
  }),
  "aws:index/getAvailabilityZones:getAvailabilityZones": () => ({
    id: "eu-central-1",
    names: ZONES.map((zone) => `eu-central-1${zone}`),
    zoneIds: ZONES.map((_, index) => `euc1-az${index + 1}`),
  }),
  "aws:ssm/getParameter:getParameter": ({ name }) => ({
    id: name,
    name,
    type: "String",
    value: String(name).includes("ami") ? "ami-0123456789abcdef0" : "value",
  }),
  "aws:ec2/getAmi:getAmi": () => ({ id: "ami-0123456789abcdef0", imageId: "ami-0123456789abcdef0" }),
  "aws:ec2/getManagedPrefixList:getManagedPrefixList": ({ name }) => ({ id: "pl-0123456789abcdef0", name }),
  "aws:cloudfront/getCachePolicy:getCachePolicy": ({ name }) => ({ id: `cache-${String(name)}`, name }),
  "aws:cloudfront/getOriginRequestPolicy:getOriginRequestPolicy": ({ name }) => ({
    id: `origin-${String(name)}`,
    name,
  }),
};
