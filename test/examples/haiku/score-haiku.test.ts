import { describe, expect, it } from "vitest";
import { countSyllables, namesTopic, NOT_A_HAIKU, scoreHaiku } from "../../../examples/haiku/score-haiku.ts";

const perfect = "an old silent pond\na frog jumps into the pond\nsplash silence again";

describe("countSyllables", () => {
  it.each([
    // In the dictionary; the first of several pronunciations counts.
    ["fire", 2],
    ["a", 1],
    ["Orange", 2],
    ["every", 3],
    ["constructor", 3],
    // In the dictionary without any vowel.
    ["hmm", 0],
    // An entry that ends in a comment.
    ["danglar", 2],
    // Not in the dictionary: groups of vowels, a final e is silent unless it is the only one, at least one.
    ["dragonfly", 3],
    ["zzgloame", 1],
    ["qwe", 1],
    ["xkcdq", 1],
    ["zyzzyvax", 3],
    ["mooglebee", 2],
    // A word is a run of the letters a to z.
    ["don't", 2],
    ["snow-white", 2],
    ["naïve", 2],
    ["3 birds!", 1],
    ["", 0],
    ["... 42", 0],
  ])("counts %j as %i", (text, syllables) => {
    expect(countSyllables(text)).toBe(syllables);
  });
});

describe("scoreHaiku", () => {
  it.each([
    ["perfect", perfect, 0],
    ["in capitals", perfect.toUpperCase(), 0],
    ["blank lines between", `\n\n  ${perfect.replaceAll("\n", "\n \t\n")}  \n`, 0],
    ["Windows line ends", perfect.replaceAll("\n", "\r\n"), 0],
    ["one syllable short", perfect.replace("an old", "old"), -1],
    ["one over and one short", perfect.replace("an old", "old").replace("again", "again now"), -2],
    ["lines swapped", "a frog jumps into the pond\nan old silent pond\nsplash silence again", -4],
    ["digits only", "1\n2\n3", -17],
    ["nothing", "", NOT_A_HAIKU],
    ["two lines", "an old silent pond\na frog jumps into the pond", NOT_A_HAIKU],
    ["four lines", `${perfect}\nagain`, NOT_A_HAIKU],
    // Python's strip() knows these as white space; JavaScript's trim() does not.
    ["a line of separators", `${perfect}\n\x1c\x1d\x85`, 0],
    // And this the other way round.
    ["a line of one byte order mark", `${perfect}\n\ufeff`, NOT_A_HAIKU],
  ])("scores %s", (_, text, score) => {
    expect(scoreHaiku(text)).toBe(score);
  });

  it("never scores minus zero", () => {
    expect(Object.is(scoreHaiku(perfect), 0)).toBe(true);
  });

  it("scores a training step of 128 poems in a few milliseconds", () => {
    const start = performance.now();
    for (let i = 0; i < 1280; i++) scoreHaiku(perfect);
    expect(performance.now() - start).toBeLessThan(500);
  });
});

describe("namesTopic", () => {
  it.each([
    ["the rain falls", "rain", true],
    ["Rain!", "rain", true],
    ["the rain", "Rain", true],
    ["a train waits", "rain", false],
    ["rains", "rain", false],
    ["under the old\ncherry tree", "cherry tree", true],
    ["tree of cherry", "cherry tree", false],
    ["anything", "", false],
    ["anything", "!", false],
    ["die straße", "Straße", true],
  ])("%j names %j: %s", (text, topic, named) => {
    expect(namesTopic(text, topic)).toBe(named);
  });
});
