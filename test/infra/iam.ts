import { runSimulation } from "@cloud-copilot/iam-simulate";
import type { Recorded } from "./record-stack.ts";

const ACCOUNT = "123456789012";

const LEAVES_IT_TO_ROLES = {
  Version: "2012-10-17",
  Statement: [
    { Effect: "Allow", Principal: { AWS: `arn:aws:iam::${ACCOUNT}:root` }, Action: "kms:*", Resource: "*" },
  ],
};

/** What is asked of AWS. */
export interface Question {
  action: string;
  resource: string;
  /** What AWS knows of the request, such as `ecs:cluster`. */
  context?: Record<string, string | string[]>;
}

/** Policies that lie on a role of the stack; those of AWS's own apart, which `managedPolicies` tells. */
export function policiesOf(stack: readonly Recorded[], role: string): unknown[] {
  const documents = stack
    .filter(({ type, inputs }) => type === "aws:iam/rolePolicy:RolePolicy" && inputs["role"] === role)
    .map(({ inputs }) => inputs["policy"]);
  const inline = stack
    .filter(({ type, inputs }) => type === "aws:iam/role:Role" && nameOf(inputs, role))
    .flatMap(({ inputs }) => (inputs["inlinePolicies"] ?? []) as { policy: string }[])
    .map(({ policy }) => policy);
  return [...documents, ...inline].map((text) => JSON.parse(String(text)) as unknown);
}

/** ARNs of the policies of AWS's own that a role has. */
export function managedPolicies(stack: readonly Recorded[], role: string): string[] {
  return stack
    .filter(
      ({ type, inputs }) =>
        type === "aws:iam/rolePolicyAttachment:RolePolicyAttachment" && inputs["role"] === role,
    )
    .map(({ inputs }) => String(inputs["policyArn"]));
}

const answers = new Map<string, Promise<boolean>>();

/**
 * Whether AWS would let somebody with these policies do this. What was asked before is not asked again: to find an
 * answer takes a millisecond, and stacks have most of their policies in common.
 *
 * @throws Error for a question that AWS could not be asked: no such action, or one about other resources.
 */
export function isAllowed(policies: readonly unknown[], question: Question): Promise<boolean> {
  const key = JSON.stringify([policies, question]);
  const answer = answers.get(key) ?? simulate(policies, question);
  answers.set(key, answer);
  return answer;
}

async function simulate(
  policies: readonly unknown[],
  { action, resource, context = {} }: Question,
): Promise<boolean> {
  const answer = await runSimulation(
    {
      request: {
        principal: `arn:aws:sts::${ACCOUNT}:assumed-role/somebody/session`,
        action,
        resource: { resource, accountId: ACCOUNT },
        contextVariables: context,
      },
      identityPolicies: policies.map((policy, index) => ({ name: `policy-${index}`, policy })),
      // Of a key, its own policy has a say; this is the one that leaves it to the account's roles.
      ...(action.startsWith("kms:") && { resourcePolicy: LEAVES_IT_TO_ROLES }),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  if (answer.resultType === "error")
    throw new Error(`${action} of ${resource}: ${JSON.stringify(answer.errors)}`);
  return answer.overallResult === "Allowed";
}

function nameOf(inputs: Recorded["inputs"], role: string): boolean {
  return inputs["name"] === role;
}
