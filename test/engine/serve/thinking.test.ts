import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../engine/onnx/text/chat-template.ts";
import { responseFamilyOf } from "../../../sdk/schema/parse-response.ts";
import { say, serveScript, tinyText, type Harness } from "./harness.ts";
import { answer, hello } from "./tool-harness.ts";

/** As a hybrid reasoning model has it: it thinks unless told not to, and earlier thoughts are left out. */
const TEMPLATE = [
  "{%- for m in messages -%}",
  "{%- set said = m.content.split('</think>')[-1].lstrip() if m.role == 'assistant' else m.content -%}",
  "[{{ m.role }}]{{ said }}",
  "{%- endfor -%}",
  "{%- if tools -%}Call as <tool_call>.{%- endif -%}",
  "{%- if add_generation_prompt -%}[assistant]",
  "{%- if enable_thinking is defined and enable_thinking is false -%}{{ '<think>\\n\\n</think>\\n\\n' }}{%- endif -%}",
  "{%- endif -%}",
].join("");

const off = { chat_template_kwargs: { enable_thinking: false } };
const on = { chat_template_kwargs: { enable_thinking: true } };

function serve(said: string): Harness {
  const chatTemplate = new ChatTemplate(TEMPLATE);
  const text = { ...tinyText(), chatTemplate, responseFamily: responseFamilyOf(TEMPLATE) };
  return serveScript(say(said), { text });
}

function promptOf({ engine, text }: Harness): string {
  return text.tokenizer.decode(engine.requests[0]?.promptIds ?? []);
}

describe("enable_thinking of a model that may reason or not", () => {
  it.each([["left out", {}] as const, ["true", on] as const])(
    "%s leaves it to think, and tells thoughts from words",
    async (_name, options) => {
      const harness = serve("<think>Hm</think>Yes");
      const { message } = await answer(harness, { ...hello, ...options });
      expect(promptOf(harness)).toBe("[user]Hi[assistant]");
      expect(message).toMatchObject({ content: "Yes", reasoning_content: "Hm" });
    },
  );

  it("false ends its thoughts in the prompt, and what it writes are words", async () => {
    const harness = serve("Yes");
    const { message } = await answer(harness, { ...hello, ...off });
    expect(promptOf(harness)).toBe("[user]Hi[assistant]<think>\n\n</think>\n\n");
    expect(message.content).toBe("Yes");
    expect(message.reasoning_content).toBeUndefined();
  });

  it("does not say thoughts of earlier turns again", async () => {
    const harness = serve("Yes");
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "<think>secret</think>\nHello" },
      { role: "user", content: "Again" },
    ];
    await answer(harness, { ...hello, messages });
    expect(promptOf(harness)).toBe("[user]Hi[assistant]Hello[user]Again[assistant]");
  });
});
