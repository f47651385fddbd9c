import {
  answerOf,
  callerIdentity,
  networksOf,
  offersOf,
  quotaOf,
  regionStatus,
  usualRegion,
} from "./ask-account.ts";
import {
  credentialsCheck,
  enginesCheck,
  loginCheck,
  nodeCheck,
  offersCheck,
  pulumiCheck,
  readableCheck,
  regionCheck,
  settingsChecks,
  stackCheck,
  type Answer,
  type Check,
} from "./checks.ts";
import { planOf, type Planned, type StackPlan } from "./plan.ts";
import { openPulumi, type Pulumi } from "./pulumi.ts";
import { backendOf, knowsStack, nodeVersion, pulumiVersion, settingsOf } from "./pulumi-state.ts";
import { networkCheck, NETWORKS, quotaCheck, quotaNeeds } from "./quotas.ts";
import { taggedResources } from "./tagged-resources.ts";

export interface ExamineParams {
  /** With the Pulumi program; undefined: only the account is examined. */
  folder: string | undefined;
  stack: string;
  /** Default: that of the stack, else of the environment or the profile. */
  region?: string | undefined;
}

export interface Examined {
  checks: Check[];
  region: string | undefined;
  /** Undefined without a program, or with wrong settings. */
  plan: StackPlan | undefined;
}

/** Everything that is wrong with making or changing a stack here, at once. Changes nothing. */
export async function examine({ folder, stack, region: asked }: ExamineParams): Promise<Examined> {
  const pulumi = folder === undefined ? undefined : openPulumi({ folder });
  const settings = pulumi && (await answerOf(() => settingsOf(pulumi, stack)));
  const texts = settings !== undefined && "value" in settings ? settings.value : {};
  const region = asked ?? texts["aws:region"] ?? (await usualRegion());
  const planned = folder === undefined ? undefined : await planOf(folder, texts);
  const plan = planned !== undefined && "plan" in planned ? planned.plan : undefined;
  const [tools, account] = await Promise.all([
    pulumi === undefined ? [noProgram()] : toolChecks(pulumi, settings, planned, plan),
    accountChecks({ stack, region, plan, pulumi }),
  ]);
  return { checks: [...tools, ...account], region, plan };
}

async function toolChecks(
  pulumi: Pulumi,
  settings: Answer<unknown> | undefined,
  planned: Planned | undefined,
  plan: StackPlan | undefined,
): Promise<Check[]> {
  const [node, version, backend] = await Promise.all([
    answerOf(() => nodeVersion(pulumi)),
    answerOf(() => pulumiVersion(pulumi)),
    answerOf(() => backendOf(pulumi)),
  ]);
  const wrong = planned !== undefined && "findings" in planned ? planned.findings : [];
  return [
    ...[nodeCheck(node), pulumiCheck(version), ...loginCheck(backend)],
    ...[...readableCheck(settings), ...settingsChecks(wrong)],
    ...(plan === undefined ? [] : enginesCheck(plan)),
  ];
}

interface AccountParams {
  stack: string;
  region: string | undefined;
  plan: StackPlan | undefined;
  pulumi: Pulumi | undefined;
}

async function accountChecks({ stack, region, plan, pulumi }: AccountParams): Promise<Check[]> {
  const identity = await answerOf(() => callerIdentity(region));
  const who = credentialsCheck(identity);
  // Each further question would fail for the same reason.
  if (who.status === "failed") return [who];
  const optIn: Answer<string | undefined> =
    region === undefined ? { value: undefined } : await answerOf(() => regionStatus(region));
  const where = regionCheck(region, optIn);
  if (region === undefined || where.status === "failed") return [who, where];
  const [limits, network, offers, name] = await Promise.all([
    quotaChecks(plan, region),
    networkQuota(stack, region),
    offerChecks(plan, region),
    nameCheck(stack, region, pulumi),
  ]);
  return [who, where, ...limits, network, ...offers, name];
}

function quotaChecks(plan: StackPlan | undefined, region: string): Promise<Check[]> {
  if (plan === undefined) return Promise.resolve([]);
  return Promise.all(
    quotaNeeds(plan).map(async (need) => {
      const { service, code } = need;
      const has =
        code === undefined ? { value: undefined } : await answerOf(() => quotaOf(service, code, region));
      return quotaCheck(need, region, has);
    }),
  );
}

async function networkQuota(stack: string, region: string): Promise<Check> {
  const [quota, networks] = await Promise.all([
    answerOf(() => quotaOf("vpc", NETWORKS.code, region)),
    answerOf(() => networksOf(stack, region)),
  ]);
  return networkCheck(region, quota, networks);
}

async function offerChecks(plan: StackPlan | undefined, region: string): Promise<Check[]> {
  const classes = plan?.gpuClasses ?? [];
  if (classes.length === 0) return [];
  const types = [...new Set(classes.flatMap(({ instanceTypes }) => instanceTypes))];
  const offers = await answerOf(() => offersOf(types, region));
  return classes.map((each) => offersCheck(each, region, offers));
}

async function nameCheck(stack: string, region: string, pulumi: Pulumi | undefined): Promise<Check> {
  const [resources, isKnown] = await Promise.all([
    answerOf(() => taggedResources(stack, { region })),
    pulumi === undefined ? undefined : knowsStack(pulumi, stack).catch(() => undefined),
  ]);
  return stackCheck(stack, region, resources, isKnown);
}

function noProgram(): Check {
  return {
    check: "settings",
    status: "warning",
    message: "Here is no Pulumi program of Spotter, so what a stack would need of quotas is not known.",
    remedy: "Clone the repository, run `npm ci` in it, and run this there.",
  };
}
