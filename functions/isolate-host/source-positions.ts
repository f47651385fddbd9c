import { SourceMap } from "node:module";
import { BUNDLE_MODULE } from "./main-module.ts";

const MAP_COMMENT = /\n?\/\/# sourceMappingURL=data:application\/json[^,\n]*;base64,([A-Za-z0-9+/=]+)\s*$/;

export interface SplitBundle {
  /** Without the map: workerd has no use for it and starts faster. */
  code: string;
  /** The user's file:line:column of the innermost frame that is theirs; undefined without one. */
  positionOf(stack: string): string | undefined;
}

/** Takes the source map off a bundle and keeps it for stacks; it is parsed at the first error only. */
export function splitBundle(bytes: Uint8Array): SplitBundle {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const match = MAP_COMMENT.exec(text.slice(text.lastIndexOf("\n//# sourceMappingURL=")));
  const encoded = match?.[1];
  let map: SourceMap | undefined;
  return {
    code: match ? text.slice(0, text.lastIndexOf("\n//# sourceMappingURL=")) : text,
    positionOf(stack) {
      if (encoded === undefined) return undefined;
      map ??= parseMap(encoded);
      return map && firstOwnFrame(stack, map);
    },
  };
}

function parseMap(encoded: string): SourceMap | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(encoded, "base64").toString("utf8"));
    return new SourceMap(payload as ConstructorParameters<typeof SourceMap>[0]);
  } catch {
    // A damaged map costs positions, not verdicts.
    return undefined;
  }
}

function firstOwnFrame(stack: string, map: SourceMap): string | undefined {
  const frames = [...stack.matchAll(new RegExp(`${BUNDLE_MODULE.replace(".", "\\.")}:(\\d+):(\\d+)`, "g"))];
  const positions = frames.flatMap(([, line, column]) => {
    const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
    return "originalSource" in entry
      ? [{ file: entry.originalSource, line: entry.originalLine + 1, column: entry.originalColumn + 1 }]
      : [];
  });
  const isOurs = (file: string) => file.startsWith("spotter:") || file === "spotter-entry.js";
  const own = positions.filter(({ file }) => !isOurs(file));
  // A package's own line says little; the user's call into it says more.
  const best = own.find(({ file }) => !file.includes("node_modules/")) ?? own[0];
  return best && `${best.file}:${best.line}:${best.column}`;
}
