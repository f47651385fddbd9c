import { render, useState } from "hono/jsx/dom";
import { createElement } from "hono/jsx";
import type { View } from "../views/h.ts";

const SLOWEST_MS = 100;

/** Puts a view in place of what the server rendered, and draws it again when it is told that something changed. */
export function mount(root: HTMLElement, view: () => View, afterDraw: () => void = () => {}): () => void {
  let redraw: (() => void) | undefined;
  let waiting = false;

  function Root(): View {
    const [, setCount] = useState(0);
    redraw = () => setCount((count) => count + 1);
    return view();
  }

  function draw(): void {
    waiting = false;
    if (redraw === undefined) {
      root.replaceChildren();
      render(createElement(Root, {}), root);
    } else redraw();
    requestAnimationFrame(afterDraw);
  }

  // Events come in bursts; one drawing for all of them is enough.
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(draw, redraw === undefined ? 0 : SLOWEST_MS);
  };
}
