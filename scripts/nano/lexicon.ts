/** The words poems are made of, besides the topics. Each is common enough for the tokenizer to make it one token. */
const list = (words: string): readonly string[] => words.trim().split(/\s+/);

export const adjectives = list(`
  old young quiet silent gentle golden silver crimson pale dark bright cold warm soft lonely empty hidden frozen
  distant ancient little broken wild tender bitter sweet hollow shining fading falling endless weary humble slender
  blue green white scarlet delicate invisible forgotten wandering luminous glittering melancholy solitary whispering`);

export const verbs = list(`
  falls drifts sings sleeps wakes waits fades glows burns breathes whispers trembles wanders lingers dances listens
  scatters returns remembers disappears shimmers flickers rises settles dreams calls weeps hides opens closes gathers
  follows shivers`);

export const adverbs = list(`
  softly slowly gently again alone quietly silently forever tonight below above away together suddenly endlessly
  patiently`);

export const prepositions = list(`
  in on under over beyond beneath beside above through across after before without within along`);

/** "the" is listed more than once because it is picked more often. */
export const determiners = list(`the the the the a my this`);
