/** A resource as a preview knows it. */
export interface Resource {
  /** As Pulumi calls it, such as `aws:s3/bucket:Bucket`. */
  type: string;
  name: string;
  urn: string;
  /** What the program asked for. */
  props: Readonly<Record<string, unknown>>;
}

export interface Finding {
  urn: string;
  message: string;
}

/** What must hold of a stack; a decision about inputs alone, so it can be asked before anything is created. */
export interface Rule {
  /** Words with dashes. */
  name: string;
  /** What holds, as a sentence. */
  description: string;
  /** Whether resources of other types have to be looked at, too; such a rule is asked once, of all. */
  needsAll: boolean;
  /** What is wrong with these. */
  check: (resources: readonly Resource[]) => Finding[];
}

/**
 * A rule about each resource by itself.
 *
 * @example
 * const noNat = eachRule("no-nat", "No NAT gateways.", ({ type }) => (isNat(type) ? ["It costs $33 a month."] : []));
 */
export function eachRule(
  name: string,
  description: string,
  wrongWith: (resource: Resource) => string[],
): Rule {
  return {
    name,
    description,
    needsAll: false,
    check: (resources) =>
      resources.flatMap((resource) =>
        wrongWith(resource).map((message) => ({
          urn: resource.urn,
          message: `${resource.name}: ${message}`,
        })),
      ),
  };
}

/** A rule about resources together: what lies beside another, or that there is any. */
export function wholeRule(
  name: string,
  description: string,
  wrongWith: (resources: readonly Resource[]) => { resource?: Resource; message: string }[],
): Rule {
  return {
    name,
    description,
    needsAll: true,
    check: (resources) =>
      wrongWith(resources).map(({ resource, message }) => ({
        urn: resource?.urn ?? "",
        message: resource ? `${resource.name}: ${message}` : message,
      })),
  };
}

/** Part of a resource by a path, such as `at(props, "metadataOptions.httpTokens")`; undefined where there is none. */
export function at(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (part, key) =>
        typeof part === "object" && part !== null ? (part as Record<string, unknown>)[key] : undefined,
      value,
    );
}

/** What a path leads to, as a list: a list itself, one value, or nothing. */
export function listAt(value: unknown, path: string): unknown[] {
  const found = at(value, path);
  if (found === undefined || found === null) return [];
  return Array.isArray(found) ? (found as unknown[]) : [found];
}

/** JSON that a resource has as text; undefined where it is none. */
export function jsonAt(value: unknown, path: string): unknown {
  const text = at(value, path);
  if (typeof text !== "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
