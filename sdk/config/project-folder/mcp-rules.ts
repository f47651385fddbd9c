import type { RuleContext } from "./config-rules.ts";
import type { Remark } from "./finding.ts";

const LOCAL = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1):\d{1,5}(?:\/\S*)?$/;
const KEY_PARAMETER = /[?&]([\w-]*(?:key|token|secret)[\w-]*)=([^&\s]+)/i;
/** What stands where a key belongs. */
export const PLACEHOLDER = /^(?:your[_-]|<|\.{3}|x{3,}|changeme|replace)|(?:_here$)|\.{3}$/i;
const REFERENCE = /^\$\{?[A-Z][A-Z0-9_]*\}?$/;

/** Whether a server of tools runs inside the container of each row. */
export function isInSandbox(url: string): boolean {
  return LOCAL.test(url);
}

/** `mcp_url`: URLs, with no key in them that one cannot use, or should not. */
export function mcpRules({ view }: RuleContext): Remark[] {
  return view.texts("rollout.mcp_url").flatMap(({ path, value }): Remark[] => {
    if (!isInSandbox(value) && !isUrl(value)) {
      const hint = "Write https://host/path, or localhost:PORT for a server inside the row's container.";
      return [{ code: "mcp_url_invalid", path, message: `"${value}" is not a URL`, hint }];
    }
    const [, name = "", key = ""] = KEY_PARAMETER.exec(value) ?? [];
    if (key === "" || REFERENCE.test(key)) return [];
    if (PLACEHOLDER.test(key))
      return [
        {
          code: "secret_placeholder",
          severity: "warning",
          path,
          message: `${name} is ${key}, which stands for a key and is none`,
          hint: `Write ${name}=\${MY_API_KEY} and put MY_API_KEY=... into .env.`,
        },
      ];
    return [
      {
        code: "secret_in_config",
        severity: "warning",
        path,
        message: `${name} is written out in a file that is kept and shared`,
        hint: `Write ${name}=\${MY_API_KEY} and put MY_API_KEY=... into .env.`,
      },
    ];
  });
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
