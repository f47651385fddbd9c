import { isObject, kindOf, type Report, type RowContext } from "./row-context.ts";

const IMAGE = /^data:image\/(png|jpeg|jpg|webp|gif);base64,/;
const PARTS = ["text", "thinking", "image", "image_url"];

/** What a message says: a text, nothing beside calls of tools, or a list of parts. */
export function contentChecks(
  message: Record<string, unknown>,
  index: number,
  context: RowContext,
  report: Report,
): void {
  const { content } = message;
  if (typeof content === "string") return;
  const path = ["messages", index, "content"];
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  if ((content === null || content === undefined) && message.role === "assistant" && hasCalls) return;
  if (!Array.isArray(content)) {
    const what =
      content === undefined ? "is missing" : `is ${kindOf(content)}, expected a text or a list of parts`;
    const hint =
      content === null ? 'Write "": null is for messages with tool_calls.' : 'Write "content": "...".';
    return report({ code: "row_invalid", path, message: what, hint });
  }
  if (content.length === 0) {
    const hint = 'Write [{"type": "text", "text": "..."}], or a text.';
    return report({ code: "row_invalid", path, message: "is an empty list", hint });
  }
  for (let at = 0; at < content.length; at++) partCheck(content[at], [...path, at], context, report);
}

function partCheck(part: unknown, path: (string | number)[], context: RowContext, report: Report): void {
  const type = isObject(part) ? part.type : undefined;
  if (!isObject(part) || typeof type !== "string" || !PARTS.includes(type)) {
    const what = isObject(part)
      ? type === undefined
        ? "has no type"
        : `${JSON.stringify(type)} is no type of a part`
      : `is ${kindOf(part)}, expected an object`;
    const hint =
      'Write {"type": "text", "text": "..."} or {"type": "image", "image": "data:image/png;base64,..."}.';
    return report({ code: "row_invalid", path, message: what, hint });
  }
  if (type === "text" || type === "thinking") {
    if (typeof part[type] === "string") return;
    const hint = `Write {"type": "${type}", "${type}": "..."}.`;
    return report({ code: "row_invalid", path, message: `has no ${type}`, hint });
  }
  imageCheck(part, path, context, report);
}

function imageCheck(
  part: Record<string, unknown>,
  path: (string | number)[],
  context: RowContext,
  report: Report,
): void {
  const image = imageOf(part);
  if (typeof image !== "string" || !IMAGE.test(image)) {
    const shown = typeof image === "string" && image.length <= 80 ? ` ("${image}")` : "";
    report({
      code: "row_image",
      path,
      message: `its image${shown} is no data URI: files and URLs are not sent along`,
      hint: 'Write "data:image/png;base64,..." (png, jpeg, webp or gif).',
    });
  }
  const [blind] = context.blindModels;
  if (blind === undefined) return;
  const hint = "Take a vision model such as Qwen/Qwen3-VL-30B-A3B-Instruct, or remove the image.";
  report({ code: "row_image", path, message: `${blind} takes no images`, hint });
}

function imageOf(part: Record<string, unknown>): unknown {
  if (part.type === "image") return part.image;
  return isObject(part.image_url) ? part.image_url.url : part.image_url;
}

/** Characters of text; images are not counted. */
export function lengthOf(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  let sum = 0;
  for (const part of content as unknown[]) {
    if (!isObject(part)) continue;
    if (typeof part.text === "string") sum += part.text.length;
    if (typeof part.thinking === "string") sum += part.thinking.length;
  }
  return sum;
}
