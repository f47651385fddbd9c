import { describe, expect, it } from "vitest";
import {
  examples,
  filled,
  formatted,
  ProjectDataset,
} from "../../../../sdk/config/project-folder/project-dataset.ts";
import { tempFile } from "./rows.ts";

const user = { role: "user", content: "2 + 2?" };

describe("rows of a project", () => {
  it("are prompts with their own rewards and tools in rl", () => {
    const row = { messages: [user], rewards: ["accuracy"], tools: [], metadata: { a: 1 } };
    expect(formatted(row, "rl")).toEqual({ prompt: [user], rewards: ["accuracy"], tools: [], row });
  });

  it("end in what is learnt in sft", () => {
    const row = { messages: [user, { role: "assistant", content: "4" }], rewards: ["unused"] };
    expect(formatted(row, "sft")).toEqual({ prompt: [user], completion: "4", row });
  });

  it("are an example for each answer, with all that was said before it", () => {
    const [first, second] = [
      { role: "assistant", content: "4" },
      { role: "assistant", content: "5" },
    ];
    const row = { messages: [user, first, user, second, user] };
    expect(examples(row, "sft").map(({ prompt, completion }) => [prompt.length, completion])).toEqual([
      [1, "4"],
      [3, "5"],
    ]);
  });

  it("are texts in midtrain, learnt whole", () => {
    const row = { text: "Rain on $place.", variables: { place: "Mars" } };
    expect(examples(row, "midtrain")).toEqual([{ prompt: [], text: "Rain on Mars.", row }]);
  });

  it("have their variables filled in, and nothing else", () => {
    const variables = { topic: "rain", n: 3 };
    expect(filled("About $topic, ${topic} or ${n}: $$5, $x, $expected_answer", variables)).toBe(
      "About rain, rain or 3: $$5, $x, $expected_answer",
    );
    expect(
      filled(
        [
          { type: "text", text: "$topic" },
          { type: "image", image: "x" },
        ],
        variables,
      ),
    ).toEqual([
      { type: "text", text: "rain" },
      { type: "image", image: "x" },
    ]);
    // The gold answer lies in metadata, which is never filled in.
    const row = {
      messages: [{ role: "user", content: "$gold $topic" }],
      variables,
      metadata: { gold: 4 },
      rewards: [],
    };
    expect(formatted(row, "rl").prompt).toEqual([{ role: "user", content: "$gold rain" }]);
    expect(filled("$topic", undefined)).toBe("$topic");
  });

  it("are read in parts, as training and held-out rows", async () => {
    const lines = Array.from({ length: 5 }, (_, n) =>
      JSON.stringify({ messages: [{ role: "user", content: String(n) }] }),
    );
    const path = tempFile(`\uFEFF${lines.slice(0, 2).join("\r\n")}\n\n${lines.slice(2).join("\n")}`);
    const contents = async (params: { skip?: number; take?: number }) =>
      (await new ProjectDataset({ path, kind: "rl", ...params }).load()).map(
        ({ prompt }) => prompt[0]?.content,
      );
    expect(await contents({ take: 3 })).toEqual(["0", "1", "2"]);
    expect(await contents({ skip: 3 })).toEqual(["3", "4"]);
  });

  it("keep whole numbers above 2^53 as they are written, also in prompts", async () => {
    const line =
      '{"messages":[{"role":"user","content":"id $id"}],"variables":{"id":98765432109876543210},"metadata":{"ids":[12345678901234567891]}}';
    const [row] = await new ProjectDataset({ path: tempFile(line), kind: "rl" }).load();
    expect(JSON.stringify(row)).toContain('"metadata":{"ids":[12345678901234567891]}');
    expect(row?.prompt[0]?.content).toBe("id 98765432109876543210");
  });
});
