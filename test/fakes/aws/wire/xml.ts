import type { Shape, Traits } from "./schema.ts";

export const nameInXml = (name: string, traits: Traits): string =>
  typeof traits.xmlName === "string" ? traits.xmlName : name;

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** The members of a structure as elements, one after the other. */
export function elementsOf(shape: Shape, value: unknown): string {
  if (shape.kind !== "structure") return contentOf(shape, value);
  return Object.entries(value as object)
    .map(([name, each]) => {
      const member = shape.members.get(name)?.();
      if (member === undefined || each === undefined || each === null) return "";
      const element = nameInXml(name, member.traits);
      return `<${element}>${contentOf(member, each)}</${element}>`;
    })
    .join("");
}

function contentOf(shape: Shape, value: unknown): string {
  switch (shape.kind) {
    case "structure":
      return elementsOf(shape, value);
    case "list": {
      const member = shape.member();
      const element = nameInXml("member", member.traits);
      return (value as unknown[])
        .map((each) => `<${element}>${contentOf(member, each)}</${element}>`)
        .join("");
    }
    case "timestamp":
      return value instanceof Date ? value.toISOString() : escaped(text(value));
    default:
      return escaped(text(value));
  }
}

const text = (value: unknown): string => (value as string | number | boolean).toString();
