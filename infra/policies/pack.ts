import { PolicyPack, type Policies } from "@pulumi/policy";
import { RULES } from "./rules.ts";

/** The rules as policies of Pulumi: `pulumi preview --policy-pack infra/policies` stops where one does not hold. */
const policies: Policies = RULES.map(({ name, description, needsAll, check }) => {
  const about = { name, description, enforcementLevel: "mandatory" as const };
  return needsAll
    ? {
        ...about,
        validateStack: ({ resources }, report) => {
          for (const { urn, message } of check(resources)) report(message, urn === "" ? undefined : urn);
        },
      }
    : {
        ...about,
        validateResource: (resource, report) => {
          for (const { message } of check([resource])) report(message);
        },
      };
});

new PolicyPack("spotter", { policies });
