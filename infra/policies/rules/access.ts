import { NARROWING, WIDE_ACTIONS } from "../reasons.ts";
import { at, eachRule, jsonAt, listAt, type Resource } from "../rule.ts";

interface Statement {
  effect: string;
  actions: string[];
  resources: string[];
  principals: string[];
  conditionKeys: string[];
  usesNot: boolean;
}

/** Where resources have policies, by type. */
const POLICIES: Record<string, string[]> = {
  "aws:iam/policy:Policy": ["policy"],
  "aws:iam/role:Role": ["assumeRolePolicy"],
  "aws:iam/rolePolicy:RolePolicy": ["policy"],
  "aws:iam/groupPolicy:GroupPolicy": ["policy"],
  "aws:iam/userPolicy:UserPolicy": ["policy"],
  "aws:s3/bucketPolicy:BucketPolicy": ["policy"],
  "aws:sns/topicPolicy:TopicPolicy": ["policy"],
  "aws:sqs/queuePolicy:QueuePolicy": ["policy"],
  "aws:kms/key:Key": ["policy"],
  "aws:ecr/repositoryPolicy:RepositoryPolicy": ["policy"],
  "aws:ec2/vpcEndpoint:VpcEndpoint": ["policy"],
};
/** Of these, `Resource` says nothing: they lie on the one resource they are about. */
const ON_ONE_RESOURCE = new Set(["aws:kms/key:Key", "aws:ec2/vpcEndpoint:VpcEndpoint"]);

export function statementsOf({ type, props }: Resource): Statement[] {
  const documents = (POLICIES[type] ?? []).map((path) => jsonAt(props, path));
  const inline = listAt(props, "inlinePolicies").map((policy) => jsonAt(policy, "policy"));
  return [...documents, ...inline].flatMap((document) => listAt(document, "Statement")).map(readStatement);
}

function readStatement(raw: unknown): Statement {
  const principal = at(raw, "Principal");
  const principals =
    typeof principal === "object" && principal !== null && !Array.isArray(principal)
      ? Object.keys(principal).flatMap((kind) => listAt(principal, kind))
      : listAt(raw, "Principal");
  const conditions = Object.values((at(raw, "Condition") ?? {}) as Record<string, object>);
  return {
    effect: String(at(raw, "Effect")),
    actions: listAt(raw, "Action").map(String),
    resources: listAt(raw, "Resource").map(String),
    principals: principals.map(String),
    conditionKeys: conditions.flatMap((condition) => Object.keys(condition)),
    usesNot: at(raw, "NotAction") !== undefined || at(raw, "NotResource") !== undefined,
  };
}

const allowing = (resource: Resource) => statementsOf(resource).filter(({ effect }) => effect === "Allow");

export const noWideActions = eachRule(
  "no-wide-actions",
  "A policy that allows names each call it allows.",
  (resource) =>
    allowing(resource).flatMap(({ actions, usesNot }) => [
      ...(usesNot ? ["allows all but something, which is more than anybody can list"] : []),
      ...actions.filter((action) => action.includes("*")).map((action) => `allows ${action}; name the calls`),
    ]),
);

export const noWideResources = eachRule(
  "no-wide-resources",
  "A policy that allows names the resources, or its call has a reason in reasons.ts.",
  (resource) =>
    ON_ONE_RESOURCE.has(resource.type)
      ? []
      : allowing(resource)
          .filter(({ resources }) => resources.some((each) => each === "*" || /^arn:[^:]*:\*/.test(each)))
          .flatMap(({ actions, conditionKeys }) =>
            actions.flatMap((action) => {
              const wide = WIDE_ACTIONS[action];
              if (wide === undefined)
                return [`allows ${action} on all resources, and reasons.ts has no reason`];
              const { needs } = wide;
              return needs === undefined || conditionKeys.some((key) => key.startsWith(needs))
                ? []
                : [`allows ${action} on all resources without the condition ${needs}`];
            }),
          ),
);

export const noOpenDoors = eachRule(
  "no-open-doors",
  "No role, bucket, topic or key can be used by everybody.",
  (resource) =>
    allowing(resource)
      .filter(({ principals }) => principals.includes("*") && !ON_ONE_RESOURCE.has(resource.type))
      .filter(({ conditionKeys }) => !conditionKeys.some((key) => NARROWING.includes(key)))
      .map(({ actions }) => `lets everybody do ${actions.join(", ")}`),
);

/** Of AWS's own policies, those that allow more than a program of this project needs. */
const TOO_MUCH =
  /\/(AdministratorAccess.*|PowerUserAccess|IAMFullAccess|[A-Za-z0-9]*FullAccess|ReadOnlyAccess)$/;

export const noAdministrators = eachRule(
  "no-administrators",
  "Nobody gets AdministratorAccess or another policy that opens a whole service.",
  ({ type, props }) => {
    const attached = type.startsWith("aws:iam/")
      ? [...listAt(props, "policyArn"), ...listAt(props, "managedPolicyArns"), ...listAt(props, "policyArns")]
      : [];
    return attached
      .map(String)
      .filter((arn) => TOO_MUCH.test(arn))
      .map((arn) => `gets ${arn}`);
  },
);
