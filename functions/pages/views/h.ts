import { createElement } from "hono/jsx";
import type { Child } from "hono/jsx";

/** What {@link h} makes: text on the server (escaped by hono/jsx), elements in the browser (hono/jsx/dom). */
export type View = ReturnType<typeof createElement>;
export type Children = Child | View;
export type Props = Record<string, unknown>;

/**
 * One element. A call in place of JSX syntax, because the sources run as they are, and Node strips types but
 * does not compile JSX. Handlers (`onClick`) and `ref` only act in the browser.
 */
export function h(tag: string, props: Props | null, ...children: Children[]): View {
  return createElement(tag, props ?? {}, ...children);
}
