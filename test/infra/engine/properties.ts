import * as rpc from "@pulumi/pulumi/runtime/rpc.js";

/** A value that nobody knows before something has been created. */
export const UNKNOWN = rpc.unknownValue;

export interface Properties {
  /** Secrets, assets and references without their envelopes; what is not known is {@link UNKNOWN}. */
  values: Record<string, unknown>;
  /** Where a value was marked secret, such as `environment.variables.TOKEN`. */
  secrets: string[];
  /** Where something is not known yet. */
  unknowns: string[];
}

/** What a program sent, in plain values. */
export function decode(raw: Record<string, unknown>): Properties {
  const found = { secrets: new Set<string>(), unknowns: new Set<string>() };
  const values = Object.fromEntries(
    Object.entries(raw).map(([key, value]) => [key, plain(value, key, found)]),
  );
  return { values, secrets: [...found.secrets], unknowns: [...found.unknowns] };
}

/** `value` as the engine keeps a secret. */
export function secret(value: unknown): Record<string, unknown> {
  return { [rpc.specialSigKey]: rpc.specialSecretSig, value };
}

interface Found {
  secrets: Set<string>;
  unknowns: Set<string>;
}

function plain(value: unknown, path: string, found: Found): unknown {
  if (value === UNKNOWN) {
    found.unknowns.add(path);
    return value;
  }
  if (Array.isArray(value)) return value.map((each, index) => plain(each, `${path}[${index}]`, found));
  if (typeof value !== "object" || value === null) return value;
  const { [rpc.specialSigKey]: kind, ...rest } = value as Record<string, unknown>;
  switch (kind) {
    case rpc.specialSecretSig:
      found.secrets.add(path);
      return plain(rest["value"], path, found);
    case rpc.specialResourceSig:
      return rest["urn"];
    default:
      // Assets and archives, too: what is left of them are their texts, paths and hashes.
      return Object.fromEntries(
        Object.entries(rest).map(([key, each]) => [
          key,
          plain(each, path === "" ? key : `${path}.${key}`, found),
        ]),
      );
  }
}
