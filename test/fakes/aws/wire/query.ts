import type { Fault } from "../fault.ts";
import type { Protocol, WireAnswer } from "./protocol.ts";
import type { Operation, Shape } from "./schema.ts";
import { elementsOf, escaped, nameInXml } from "./xml.ts";

/** AWS query, and EC2's dialect of it: forms in, XML out. */
function protocol(dialect: Dialect): Protocol {
  return {
    operationOf({ headers, body }, { mark }) {
      if (!String(headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded"))
        return undefined;
      const form = new URLSearchParams(body.toString("utf8"));
      return form.get("Version") === mark ? (form.get("Action") ?? undefined) : undefined;
    },
    read({ body }, { input }) {
      const root: Node = { text: undefined, children: new Map() };
      for (const [key, value] of new URLSearchParams(body.toString("utf8"))) {
        if (key === "Action" || key === "Version") continue;
        nodeAt(root, key.split(".")).text = value;
      }
      return valueOf(input, root, dialect) as Record<string, unknown>;
    },
    write: (output, operation, requestId) =>
      xmlAnswer(200, dialect.wrap(operation, elementsOf(operation.output, output), requestId)),
    fault: (fault, requestId) => xmlAnswer(fault.status, dialect.fault(fault, requestId)),
  };
}

interface Node {
  text: string | undefined;
  children: Map<string, Node>;
}

interface Dialect {
  /** A member's name in a form. */
  nameInForm(name: string, shape: Shape): string;
  /** Lists are numbered directly, or under a word. */
  listWord: string | undefined;
  wrap(operation: Operation, elements: string, requestId: string): string;
  fault(fault: Fault, requestId: string): string;
}

const ec2: Dialect = {
  nameInForm(name, { traits }) {
    if (typeof traits.ec2QueryName === "string") return traits.ec2QueryName;
    const inXml = nameInXml(name, traits);
    return inXml.charAt(0).toUpperCase() + inXml.slice(1);
  },
  listWord: undefined,
  wrap: ({ name }, elements, requestId) =>
    `<${name}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>${requestId}</requestId>${elements}</${name}Response>`,
  fault: ({ code, message }, requestId) =>
    `<Response><Errors><Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error></Errors><RequestID>${requestId}</RequestID></Response>`,
};

const awsQuery: Dialect = {
  nameInForm: (name, { traits }) => nameInXml(name, traits),
  listWord: "member",
  wrap: ({ name }, elements, requestId) =>
    `<${name}Response xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/"><${name}Result>${elements}</${name}Result><ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata></${name}Response>`,
  fault: ({ code, message, status }, requestId) =>
    `<ErrorResponse><Error><Type>${status < 500 ? "Sender" : "Receiver"}</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error><RequestId>${requestId}</RequestId></ErrorResponse>`,
};

export const ec2Protocol = protocol(ec2);
export const queryProtocol = protocol(awsQuery);

const xmlAnswer = (status: number, body: string): WireAnswer => ({
  status,
  headers: { "content-type": "text/xml;charset=UTF-8" },
  body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
});

function nodeAt(root: Node, path: string[]): Node {
  let node = root;
  for (const part of path) {
    const child = node.children.get(part) ?? { text: undefined, children: new Map() };
    node.children.set(part, child);
    node = child;
  }
  return node;
}

/** Forms carry text: the model says what it means. What the model lacks stays text, for validation to find. */
function valueOf(shape: Shape, node: Node, dialect: Dialect): unknown {
  switch (shape.kind) {
    case "structure":
      return structureOf(shape, node, dialect);
    case "list": {
      const items = dialect.listWord === undefined ? node : node.children.get(dialect.listWord);
      return [...(items?.children ?? [])]
        .sort(([a], [b]) => Number(a) - Number(b))
        .map(([, each]) => valueOf(shape.member(), each, dialect));
    }
    case "map":
      throw new Error("the fake AWS reads no maps from forms");
    case "number":
      return node.text === undefined || Number.isNaN(Number(node.text)) ? node.text : Number(node.text);
    case "boolean":
      return node.text === "true" ? true : node.text === "false" ? false : node.text;
    case "timestamp":
      return node.text === undefined ? undefined : new Date(node.text);
    default:
      return node.text;
  }
}

function structureOf(
  shape: Shape & { kind: "structure" },
  node: Node,
  dialect: Dialect,
): Record<string, unknown> {
  const byFormName = new Map(
    [...shape.members].map(([name, member]) => [dialect.nameInForm(name, member()), { name, member }]),
  );
  return Object.fromEntries(
    [...node.children].map(([formName, child]) => {
      const known = byFormName.get(formName);
      return known === undefined
        ? [formName, child.text ?? {}]
        : [known.name, valueOf(known.member(), child, dialect)];
    }),
  );
}
