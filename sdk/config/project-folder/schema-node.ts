/**
 * Looks into a zod schema: which keys an object has, and what kind of value is expected.
 *
 * @module
 */
import type * as z from "zod/mini";

interface Node {
  def: {
    type: string;
    innerType?: Node;
    element?: Node;
    options?: Node[];
    entries?: Record<string, unknown>;
  };
  shape?: Record<string, Node>;
  _zod: { bag?: { format?: string } };
}

export type SchemaNode = Node;

export function schemaNode(schema: z.ZodMiniType): SchemaNode {
  // Its public types hide what every schema has.
  const node: unknown = schema;
  return node as SchemaNode;
}

/** Without what stands around it: optional, nullable, with a default. */
export function bare(node: SchemaNode): SchemaNode {
  let current = node;
  while (current.def.innerType) current = current.def.innerType;
  return current;
}

export function isNullable(node: SchemaNode): boolean {
  let current: SchemaNode | undefined = node;
  while (current) {
    if (current.def.type === "nullable") return true;
    current = current.def.innerType;
  }
  return false;
}

export function isInteger(node: SchemaNode): boolean {
  return node._zod.bag?.format === "safeint";
}

export function childNode(node: SchemaNode, step: string | number): SchemaNode | undefined {
  const inner = bare(node);
  if (inner.def.type === "object")
    return inner.shape && Object.hasOwn(inner.shape, step) ? inner.shape[String(step)] : undefined;
  if (inner.def.type === "array") return inner.def.element;
  if (inner.def.type !== "union") return undefined;
  const options = (inner.def.options ?? []).map(bare);
  return options.map((option) => childNode(option, step)).find((found) => found !== undefined);
}

export function nodeAt(root: SchemaNode, path: readonly (string | number)[]): SchemaNode | undefined {
  let current: SchemaNode | undefined = root;
  for (const step of path) current = current && childNode(current, step);
  return current;
}

export function keysOf(node: SchemaNode | undefined): string[] {
  return node ? Object.keys(bare(node).shape ?? {}) : [];
}

/** Every key path of the schema, such as `trainer.save_step`; items of lists as their list. */
export function allPaths(node: SchemaNode, prefix: readonly string[] = []): string[][] {
  const inner = bare(node);
  if (inner.def.type === "array" && inner.def.element) return allPaths(inner.def.element, prefix);
  return Object.entries(inner.shape ?? {}).flatMap(([key, child]) => [
    [...prefix, key],
    ...allPaths(child, [...prefix, key]),
  ]);
}
