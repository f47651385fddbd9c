import { describe, expect, it } from "vitest";
import { ChatTemplate } from "../../../../engine/onnx/text/chat-template.ts";

const user = { role: "user" as const, content: "Hi" };

describe("ChatTemplate", () => {
  it("renders messages, variables, special tokens and the beginning of the answer", () => {
    const template = new ChatTemplate(
      "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}" +
        "{% if add_generation_prompt %}[assistant]{% endif %}{% if enable_thinking %}<think>{% endif %}",
      { bos_token: "<s>" },
    );
    expect(template.render([user])).toBe("<s>[user]Hi[assistant]");
    expect(template.render([user], { addGenerationPrompt: false })).toBe("<s>[user]Hi");
    expect(template.render([user], { variables: { enable_thinking: true } })).toBe(
      "<s>[user]Hi[assistant]<think>",
    );
  });

  it("takes the template for tools where there are tools", () => {
    const template = new ChatTemplate([
      { name: "default", template: "plain" },
      { name: "tool_use", template: "{{ tools | length }} tools" },
    ]);
    expect(template.render([user])).toBe("plain");
    expect(template.render([user], { tools: [] })).toBe("plain");
    expect(template.render([user], { tools: [{}, {}] })).toBe("2 tools");
    expect(template.source).toBe("{{ tools | length }} tools");
  });

  it("gives the template a call's arguments as a value", () => {
    const template = new ChatTemplate("{{ messages[0].tool_calls[0].function.arguments.city }}");
    const call = { id: "c", type: "function", function: { name: "w", arguments: '{"city": "Kyoto"}' } };
    const message = { role: "assistant" as const, content: null, tool_calls: [call] };
    expect(template.render([message])).toBe("Kyoto");
    expect(call.function.arguments).toBe('{"city": "Kyoto"}');
  });

  it("is a coded error where the template objects", () => {
    const template = new ChatTemplate("{{ raise_exception('System role not supported') }}");
    expect(() => template.render([user])).toThrowError(
      expect.objectContaining({
        code: "chat_template_failed",
        status: 400,
        message: expect.stringContaining("System role not supported") as string,
      }) as Error,
    );
  });

  it("is a coded error where the template does not parse", () => {
    expect(() => new ChatTemplate("{% if %}")).toThrowError(
      expect.objectContaining({ code: "model_corrupt" }) as Error,
    );
  });
});
