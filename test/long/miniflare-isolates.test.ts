import { createMiniflareIsolates, UNLIMITED } from "../../functions/local/miniflare-isolates/index.ts";
import { isolatesContract } from "../contract/isolates/suite.ts";

isolatesContract(
  "miniflare-isolates",
  async () => {
    const lines: string[] = [];
    const isolates = await createMiniflareIsolates({
      loadTimeoutMs: 2_500,
      onMessage: ({ text }) => lines.push(text),
    });
    return { isolates, printed: () => lines, dispose: () => isolates.close() };
  },
  { unlimited: UNLIMITED },
);
