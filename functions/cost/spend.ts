import type { Charge, Price, Spend } from "../../sdk/schema/cost.ts";

const HOUR_MS = 3_600_000;

/**
 * What containers have cost by now. Computed from when each of them ran, never added up on the way: a crash
 * of the control plane can neither lose nor double anything.
 */
export function spendOf(charges: readonly Charge[], now: number): Spend {
  let usd = 0;
  let gpuSeconds = 0;
  let hourlyUsd = 0;
  for (const charge of charges) {
    if (charge.startedAtMs === undefined) continue;
    const ms = Math.max(0, (charge.endedAtMs ?? now) - charge.startedAtMs);
    usd += (charge.hourlyUsd * ms) / HOUR_MS;
    gpuSeconds += (charge.gpus * ms) / 1_000;
    if (charge.endedAtMs === undefined) hourlyUsd += charge.hourlyUsd;
  }
  return { usd: round(usd), gpuSeconds: Math.round(gpuSeconds), hourlyUsd: round(hourlyUsd) };
}

/** How long containers have run by now. */
export function secondsOf(charges: readonly Charge[], now: number): number {
  const ms = charges.map(({ startedAtMs, endedAtMs }) =>
    startedAtMs === undefined ? 0 : Math.max(0, (endedAtMs ?? now) - startedAtMs),
  );
  return ms.reduce((sum, each) => sum + each, 0) / 1_000;
}

/** The container that a charge is for. */
type Charged = Pick<Charge, "attempt" | "conversion">;

/** The charges with that of a new attempt. One that is there already stays as it is. */
export function chargeBegun(charges: readonly Charge[] = [], of: Charged, price: Price): Charge[] {
  if (charges.some((charge) => isOf(charge, of))) return [...charges];
  return [...charges, { ...price, ...of }];
}

/** The first time that is seen counts. */
export function chargeStarted(charges: readonly Charge[] = [], of: Charged, nowMs: number): Charge[] {
  return charges.map((charge) =>
    isOf(charge, of) && charge.startedAtMs === undefined ? { ...charge, startedAtMs: nowMs } : charge,
  );
}

/** Whatever still counts as running ends now: of the run or endpoint itself, or one attempt of a conversion. */
export function chargesEnded(charges: readonly Charge[] = [], nowMs: number, conversion?: Charged): Charge[] {
  return charges.map((charge) => {
    const isMeant = conversion === undefined ? charge.conversion === undefined : isOf(charge, conversion);
    const isRunning = charge.startedAtMs !== undefined && charge.endedAtMs === undefined;
    return isMeant && isRunning ? { ...charge, endedAtMs: nowMs } : charge;
  });
}

function isOf(charge: Charge, { attempt, conversion }: Charged): boolean {
  return charge.attempt === attempt && charge.conversion === conversion;
}

/** To a hundredth of a cent. */
function round(usd: number): number {
  return Math.round(usd * 10_000) / 10_000;
}
