/** Common English words of three to five letters, for tasks that are made up as they are needed. */
export const SHORT_WORDS = (
  "sun moon star rain snow wind leaf tree river stone hill lake field bird fox owl deer wolf bear frog fish crow " +
  "dawn dusk night light dark warm cold soft hard slow fast deep high low old new red blue green gold gray white " +
  "road path gate door wall roof lamp fire smoke ash salt sand clay iron wood rope boat sail wave tide foam shore " +
  "bread milk tea rice corn bean pear plum fig nut honey seed root stem bud moss fern vine rose lily pine oak elm " +
  "hand foot eye ear nose mouth hair heart song drum bell horn harp tune word page pen ink map book note line dot"
).split(" ");

/** Five letters each: what may be guessed. */
export const FIVE_LETTERS = (
  "river stone field dawns night light green white smoke bread honey drums bells harps tunes words pages notes " +
  "lines beach cloud storm frost grass plant roots petal maple cedar birch eagle raven goose otter mouse horse " +
  "sheep tiger whale shark trout coral ocean water earth flame spark ember torch candy sugar lemon apple grape " +
  "peach mango olive onion wheat flour pasta salad sauce spice cream toast table chair couch clock glass plate " +
  "spoon knife brush broom paper paint craft quilt linen shirt pants boots scarf glove crown jewel pearl ivory"
)
  .split(" ")
  .filter((word) => word.length === 5);

export const NAMES = (
  "Ada Ben Cora Dan Eva Finn Gina Hugo Ida Jon Kate Leo Mia Ned Olga Paul Quinn Rosa Sam Tess Ulf Vera Will Xena " +
  "Yara Zoe Anna Bill Carl Dora Emil Fred Greta Hans Iris Jack Karl Lena Mark Nora Otto Pia Ralf Sara Tom Uma"
).split(" ");
