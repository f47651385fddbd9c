import type { Rule } from "./rule.ts";
import { noAdministrators, noOpenDoors, noWideActions, noWideResources } from "./rules/access.ts";
import { hostsKeepTheirRole, imagesArePinned, poolsCanBeDestroyed, poolsGoToZero } from "./rules/compute.ts";
import {
  bucketsAreEncrypted,
  bucketsArePrivate,
  bucketsNeedTls,
  disksAreEncrypted,
  frontDoorsNeedTls,
} from "./rules/data.ts";
import { instancesNeedTokens, noNatGateways, noOpenIngress } from "./rules/network.ts";
import { budgetIsThere, everythingIsTagged, logsEnd } from "./rules/upkeep.ts";

/** What holds of every stack, and of whatever somebody adds to theirs. */
export const RULES: readonly Rule[] = [
  bucketsArePrivate,
  bucketsAreEncrypted,
  bucketsNeedTls,
  disksAreEncrypted,
  frontDoorsNeedTls,
  noWideActions,
  noWideResources,
  noOpenDoors,
  noAdministrators,
  noNatGateways,
  noOpenIngress,
  instancesNeedTokens,
  imagesArePinned,
  hostsKeepTheirRole,
  poolsGoToZero,
  poolsCanBeDestroyed,
  everythingIsTagged,
  logsEnd,
  budgetIsThere,
];
