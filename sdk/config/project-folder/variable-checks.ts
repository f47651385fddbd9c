import { isObject, type Report } from "./row-context.ts";

const NAME = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
/** A dollar sign that closes a formula, or is money: then none of them means a variable. */
const NO_VARIABLE = /\$(?![A-Za-z_{])/;

/**
 * `$name` and `${name}` are filled in from `variables` alone: with `metadata` in reach, a prompt that mentions
 * `$expected_answer` would give the answer away.
 */
export function variableChecks(row: Record<string, unknown>, report: Report): void {
  const variables = isObject(row.variables) ? row.variables : undefined;
  if (!Array.isArray(row.messages)) return;
  const messages = row.messages as unknown[];
  let used: Set<string> | undefined;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    const content = isObject(message) ? message.content : undefined;
    if (typeof content !== "string" || !content.includes("$")) continue;
    used = mentions(content, ["messages", index, "content"], row, variables, used ?? new Set(), report);
  }
  if (!variables) return;
  for (const name in variables)
    if (!used?.has(name))
      report({
        code: "variable_unused",
        severity: "warning",
        path: ["variables", name],
        atKey: true,
        message: "no message mentions it",
        hint: `Write \${${name}} where it belongs, or remove it.`,
      });
}

function mentions(
  content: string,
  path: (string | number)[],
  row: Record<string, unknown>,
  variables: Record<string, unknown> | undefined,
  used: Set<string>,
  report: Report,
): Set<string> {
  const isFormula = NO_VARIABLE.test(content);
  for (const [written, braced, plain] of content.matchAll(NAME)) {
    const name = braced ?? plain ?? "";
    if (variables && Object.hasOwn(variables, name)) {
      used.add(name);
      continue;
    }
    // One letter or two, or a formula: mathematics.
    if (braced === undefined && (isFormula || name.length < 3)) continue;
    if (used.has(`$${name}`)) continue;
    used.add(`$${name}`);
    const isMetadata = isObject(row.metadata) && Object.hasOwn(row.metadata, name);
    report({
      code: "variable_unknown",
      severity: "warning",
      path,
      message: isMetadata
        ? `${written} is a key of metadata, which is not filled in: it may hold the answer`
        : `${written} is no variable of this row and stays as it is`,
      hint: `Add it to "variables", or write the text out.`,
    });
  }
  return used;
}
