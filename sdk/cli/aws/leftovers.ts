import { answerOf } from "./ask-account.ts";
import type { Answer } from "./checks.ts";
import { computeLookups } from "./compute-lookups.ts";
import { billingOf, kindOf, nameOf, type Billing } from "./resource-kinds.ts";
import { storageLookups } from "./storage-lookups.ts";
import { taggedResources, type TaggedResource } from "./tagged-resources.ts";

/** Something that bears the tag of a stack and exists. */
export interface Leftover {
  arn: string;
  /** As in `ec2:instance`. */
  kind: string;
  name: string;
  billing: Billing;
  /** What its service says of it, such as `running, g6.xlarge`. */
  detail?: string;
}

/** What is known of one service at first hand: tags are listed for some minutes after their resources are gone. */
export interface Lookup {
  /** In words: "instances of EC2". */
  what: string;
  /** Kinds of which it knows all that there is. */
  kinds: readonly string[];
  ask: () => Promise<Found[]>;
}

export interface Found {
  arn: string;
  /** Where its kind alone does not tell. */
  billing?: Billing;
  detail?: string;
}

export interface Leftovers {
  /** What can cost something. */
  billed: Leftover[];
  /** What cannot. */
  free: Leftover[];
  /** The bucket and the table, where they are to stay. */
  kept: Leftover[];
  /** What could not be looked up, and why: nothing is proved of it. */
  unproved: string[];
}

export interface LeftoversParams {
  stack: string;
  region: string;
  /** The bucket and the table were left on purpose. */
  keepsData: boolean;
}

/** Buckets, tables, and nothing else. */
const DATA: ReadonlySet<string> = new Set(["s3:bucket", "dynamodb:table"]);
/** Where services that have no region are listed. */
const GLOBAL_REGION = "us-east-1";

/**
 * Everything of a stack that exists, by its tag and as its services tell.
 *
 * @throws SpotterError `aws_denied` and others of AWS, where not even tags can be listed.
 */
export async function findLeftovers({ stack, region, keepsData }: LeftoversParams): Promise<Leftovers> {
  const [own, global] = await Promise.all([
    taggedResources(stack, { region }),
    region === GLOBAL_REGION ? [] : taggedResources(stack, { region: GLOBAL_REGION }, ["cloudfront"]),
  ]);
  const tagged = [...own, ...global];
  const lookups = [...computeLookups(stack, region, tagged), ...storageLookups(region, tagged)];
  const answers = await Promise.all(
    lookups.map(async (each) => ({ ...each, answer: await answerOf(each.ask) })),
  );
  return sorted(tagged, answers, keepsData);
}

/** Puts together what bears the tag and what was looked up. */
export function sorted(
  tagged: readonly TaggedResource[],
  answers: readonly (Pick<Lookup, "what" | "kinds"> & { answer: Answer<Found[]> })[],
  keepsData: boolean,
): Leftovers {
  const known = new Map<string, Leftover>();
  const certain = new Set(answers.flatMap(({ kinds, answer }) => ("value" in answer ? kinds : [])));
  const found = answers.flatMap(({ answer }) => ("value" in answer ? answer.value : []));
  const merelyTagged = tagged.filter(({ arn }) => !certain.has(kindOf(arn)));
  for (const each of [...merelyTagged, ...found]) known.set(each.arn, leftover(each));
  const all = [...known.values()].sort((a, b) => (a.kind + a.name < b.kind + b.name ? -1 : 1));
  const isKept = ({ kind }: Leftover) => keepsData && DATA.has(kind);
  return {
    billed: all.filter((each) => each.billing !== "nothing" && !isKept(each)),
    free: all.filter(({ billing }) => billing === "nothing"),
    kept: all.filter(isKept),
    unproved: answers.flatMap(({ what, answer }) =>
      "error" in answer ? [`${what}: ${answer.error.message}`] : [],
    ),
  };
}

/** Nothing costs, and of that there is proof. */
export function isProved({ billed, unproved }: Leftovers): boolean {
  return billed.length === 0 && unproved.length === 0;
}

function leftover({ arn, billing, detail }: Found): Leftover {
  const kind = kindOf(arn);
  return {
    arn,
    kind,
    name: nameOf(arn),
    billing: billing ?? billingOf(kind),
    ...(detail !== undefined && { detail }),
  };
}
