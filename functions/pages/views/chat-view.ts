import { h, type View } from "./h.ts";

export interface ChatTurn {
  role: "user" | "assistant";
  content: string;
  reasoning?: string;
  /** Why the answer ended, or how: `stop`, `length`. */
  note?: string;
  problem?: string;
}

export interface ChatProps {
  turns: readonly ChatTurn[];
  /** The last turn is still being written. */
  isBusy: boolean;
  /** False on the server and where the endpoint cannot answer any more. */
  canSend: boolean;
  onSend?: (text: string, options: ChatOptions) => void;
  onStop?: () => void;
  onClear?: () => void;
}

export interface ChatOptions {
  system: string;
  temperature: number;
  maxTokens: number;
}

interface FormEvent {
  preventDefault(): void;
  currentTarget: { elements: { namedItem(name: string): { value: string } | null } };
}

interface KeyEvent {
  key: string;
  shiftKey: boolean;
  isComposing: boolean;
  preventDefault(): void;
  currentTarget: { form: { requestSubmit(): void } };
}

/** A conversation. Enter sends, Shift+Enter breaks the line. */
export function chatView(props: ChatProps): View {
  const { turns, isBusy, canSend } = props;
  return h(
    "div",
    { class: "chat" },
    h(
      "div",
      {
        class: "turns",
        role: "log",
        "aria-label": "Conversation",
        "aria-busy": isBusy ? "true" : "false",
        tabindex: "0",
      },
      turns.length === 0
        ? h("p", { class: "mute" }, "Nothing said yet. Try: Write a haiku about rain.")
        : null,
      ...turns.map((turn, index) => turnView(turn, index, isBusy && index === turns.length - 1)),
    ),
    h(
      "form",
      { onSubmit: (event: FormEvent) => submit(event, props) },
      h("label", { class: "sr", for: "message" }, "Message"),
      h("textarea", {
        id: "message",
        name: "message",
        rows: "2",
        placeholder: "Message",
        required: true,
        onKeyDown: sendOnEnter,
      }),
      h(
        "div",
        { class: "controls" },
        field(
          "Temperature",
          h("input", { type: "number", name: "temperature", min: "0", max: "2", step: "0.1", value: "1" }),
        ),
        field(
          "Max tokens",
          h("input", { type: "number", name: "maxTokens", min: "1", step: "1", value: "256" }),
        ),
        h("span", { class: "push" }),
        turns.length === 0 || isBusy
          ? null
          : h("button", { type: "button", class: "quiet", onClick: props.onClear }, "Clear"),
        isBusy
          ? h("button", { type: "button", onClick: props.onStop }, "Stop")
          : h("button", { type: "submit", class: "primary", disabled: !canSend }, "Send"),
      ),
      h(
        "details",
        null,
        h("summary", null, "System prompt"),
        h("label", { class: "sr", for: "system" }, "System prompt"),
        h("textarea", { id: "system", name: "system", rows: "2" }),
      ),
    ),
  );
}

function turnView(turn: ChatTurn, index: number, isBusy: boolean): View {
  return h(
    "div",
    { key: index, class: `turn ${turn.role}` },
    h("p", { class: "mute who" }, turn.role === "user" ? "You" : "Model"),
    turn.reasoning
      ? h("details", null, h("summary", null, "Reasoning"), h("p", { class: "text" }, turn.reasoning))
      : null,
    h("p", { class: isBusy ? "text busy" : "text" }, turn.content),
    turn.note === undefined ? null : h("p", { class: "mute" }, turn.note),
    turn.problem === undefined ? null : h("p", { class: "problem", role: "alert" }, turn.problem),
  );
}

function submit(event: FormEvent, { isBusy, canSend, onSend }: ChatProps): void {
  event.preventDefault();
  const { elements } = event.currentTarget;
  const valueOf = (name: string) => elements.namedItem(name)?.value ?? "";
  const message = elements.namedItem("message");
  const text = message?.value.trim() ?? "";
  if (isBusy || !canSend || text === "" || message === null) return;
  message.value = "";
  onSend?.(text, {
    system: valueOf("system").trim(),
    temperature: Number(valueOf("temperature")),
    maxTokens: Number(valueOf("maxTokens")),
  });
}

function sendOnEnter(event: KeyEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.currentTarget.form.requestSubmit();
}

function field(label: string, control: View): View {
  return h("label", null, h("span", null, label), control);
}
