/** Boxes are one answer where little or a comma, "and" or "or" is between them. */
const NEAR_CHARACTERS = 10;
const APART_CHARACTERS = 70;
const SEPARATOR = /\b(?:and|or)\b|[,;]/;

/** What the last `\boxed{...}` holds, or the last ones that belong together, with commas. Undefined without one. */
export function boxedIn(text: string): string | undefined {
  const boxes = boxesIn(text);
  const last = boxes.at(-1);
  if (!last) return undefined;
  const contents = [last.content];
  for (let at = boxes.length - 2; at >= 0; at--) {
    const [box, next] = [boxes[at], boxes[at + 1]];
    if (!box || !next) break;
    const between = text.slice(box.to, next.from);
    const isNear = between.length < NEAR_CHARACTERS;
    const isJoined =
      between.length < APART_CHARACTERS && SEPARATOR.test(between) && box.content !== next.content;
    if (!isNear && !isJoined) break;
    if (box.content !== next.content) contents.unshift(box.content);
  }
  return contents.join(", ");
}

interface Box {
  content: string;
  from: number;
  to: number;
}

function boxesIn(text: string): Box[] {
  return [...text.matchAll(/\\f?boxed\s*|\\fbox\s*/g)].map((match) => {
    const start = match.index + match[0].length;
    const end = text[start] === "{" ? closingBrace(text, start) : undefined;
    if (end !== undefined)
      return { content: text.slice(start + 1, end).trim(), from: match.index, to: end + 1 };
    // Cut off, or without braces: up to the end of the line.
    const content = text.slice(text[start] === "{" ? start + 1 : start).split("\n", 1)[0] ?? "";
    return {
      content: content.replace(/(?:\$|\\\]|\\\))[\s\S]*$/, "").trim(),
      from: match.index,
      to: text.length,
    };
  });
}

function closingBrace(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "{") depth++;
    else if (text[at] === "}" && --depth === 0) return at;
  }
  return undefined;
}
