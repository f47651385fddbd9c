import type * as eventBridge from "@aws-sdk/client-eventbridge";
import { matchesPattern } from "./event-pattern.ts";
import type { AwsEvent } from "./events.ts";
import { Fault } from "./fault.ts";
import { accountId, arn, region } from "./ids.ts";
import { deliver, type FakeFunction } from "./lambda.ts";
import type { Handlers } from "./server.ts";
import type { World } from "./world.ts";

interface Rule {
  name: string;
  pattern: unknown;
  isEnabled: boolean;
  targets: eventBridge.Target[];
  stopSchedule: () => void;
}

const unitsMs: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/** Rules of EventBridge: events and schedules that call functions. */
export function ruleHandlers(world: World, functions: ReadonlyMap<string, FakeFunction>): Handlers {
  const rules = new Map<string, Rule>();

  const call = (rule: Rule, event: AwsEvent): void => {
    if (!rule.isEnabled) return;
    for (const { Arn = "", Input } of rule.targets) {
      const input: unknown = Input === undefined ? event : JSON.parse(Input);
      deliver(functions, world, Arn, input);
    }
  };
  world.events.subscribe((event) => {
    for (const rule of rules.values()) {
      if (rule.pattern !== undefined && matchesPattern(rule.pattern, event)) call(rule, event);
    }
  });

  return {
    PutRule({
      Name = "",
      EventPattern,
      ScheduleExpression,
      State,
    }: eventBridge.PutRuleRequest): eventBridge.PutRuleResponse {
      if ((EventPattern === undefined) === (ScheduleExpression === undefined)) {
        throw new Fault(
          "ValidationException",
          "Parameter(s) EventPattern or ScheduleExpression must be specified.",
        );
      }
      const before = rules.get(Name);
      before?.stopSchedule();
      const rule: Rule = {
        name: Name,
        pattern: EventPattern === undefined ? undefined : patternOf(EventPattern),
        isEnabled: State !== "DISABLED",
        targets: before?.targets ?? [],
        stopSchedule: () => undefined,
      };
      if (ScheduleExpression !== undefined) {
        const everyMs = everyMsOf(ScheduleExpression);
        const again = (): void => {
          rule.stopSchedule = world.clock.after(everyMs, () => {
            call(rule, scheduled(rule, world));
            again();
          });
        };
        again();
      }
      rules.set(Name, rule);
      return { RuleArn: arn("events", `rule/${Name}`) };
    },
    PutTargets({ Rule = "", Targets = [] }: eventBridge.PutTargetsRequest): eventBridge.PutTargetsResponse {
      const rule = rules.get(Rule);
      if (rule === undefined) throw new Fault("ResourceNotFoundException", `Rule ${Rule} does not exist.`);
      rule.targets = [
        ...rule.targets.filter(({ Id }) => !Targets.some((each) => each.Id === Id)),
        ...Targets,
      ];
      if (rule.targets.length > 5) throw new Fault("LimitExceededException", "A rule has at most 5 targets.");
      return { FailedEntryCount: 0, FailedEntries: [] };
    },
  };
}

/** Checked against an event that matches nothing, so that a wrong pattern is refused when it is put. */
function patternOf(text: string): unknown {
  try {
    const pattern: unknown = JSON.parse(text);
    matchesPattern(pattern, {});
    return pattern;
  } catch (error) {
    throw new Fault("InvalidEventPatternException", error instanceof Error ? error.message : String(error));
  }
}

function everyMsOf(expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const unitMs = unitsMs[unit ?? ""];
  if (unitMs === undefined || Number(count) < 1) {
    throw new Fault(
      "ValidationException",
      "Parameter ScheduleExpression is not valid: the fake knows rate(...)",
    );
  }
  return Number(count) * unitMs;
}

const scheduled = ({ name }: Rule, world: World): AwsEvent => ({
  version: "0",
  id: world.ids.uuid(),
  "detail-type": "Scheduled Event",
  source: "aws.events",
  account: accountId,
  time: new Date(world.clock.now()).toISOString(),
  region,
  resources: [arn("events", `rule/${name}`)],
  detail: {},
});
