import { pathRules, type PathRule } from "../../infra/components/functions-table.ts";

/** Whether a pattern of CloudFront takes a path: `*` is any text, also none and also with slashes. */
export function takes(pattern: string, path: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(path);
}

/** Where the front door of a stack sends a request, by its URL. */
export function targetOf(url: string, gateway: "fargate" | "lambda"): PathRule["to"] | undefined {
  const [path = ""] = url.split("?");
  return pathRules(gateway).find((rule) => takes(rule.path, path))?.to;
}
