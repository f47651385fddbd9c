/** How a GGUF file may hold the numbers of a tensor: blocks of so many elements in so many bytes each. */
export interface BlockFormat {
  /** Its number in a file. */
  id: number;
  elements: number;
  bytes: number;
}

/** The types that are read. */
export const BLOCK_FORMATS = {
  F32: { id: 0, elements: 1, bytes: 4 },
  F16: { id: 1, elements: 1, bytes: 2 },
  Q4_0: { id: 2, elements: 32, bytes: 18 },
  Q4_1: { id: 3, elements: 32, bytes: 20 },
  Q5_0: { id: 6, elements: 32, bytes: 22 },
  Q5_1: { id: 7, elements: 32, bytes: 24 },
  Q8_0: { id: 8, elements: 32, bytes: 34 },
  Q4_K: { id: 12, elements: 256, bytes: 144 },
  Q5_K: { id: 13, elements: 256, bytes: 176 },
  Q6_K: { id: 14, elements: 256, bytes: 210 },
  BF16: { id: 30, elements: 1, bytes: 2 },
} as const satisfies Record<string, BlockFormat>;
export type GgufTensorType = keyof typeof BLOCK_FORMATS;

/** Types that exist and are not read, so that a refusal can say their name. */
const OTHERS: Readonly<Record<number, string>> = {
  9: "Q8_1",
  10: "Q2_K",
  11: "Q3_K",
  15: "Q8_K",
  16: "IQ2_XXS",
  17: "IQ2_XS",
  18: "IQ3_XXS",
  19: "IQ1_S",
  20: "IQ4_NL",
  21: "IQ3_S",
  22: "IQ2_S",
  23: "IQ4_XS",
  24: "I8",
  25: "I16",
  26: "I32",
  27: "I64",
  28: "F64",
  29: "IQ1_M",
  34: "TQ1_0",
  35: "TQ2_0",
  39: "MXFP4",
};

const BY_ID = new Map(
  (Object.keys(BLOCK_FORMATS) as GgufTensorType[]).map((type) => [BLOCK_FORMATS[type].id, type]),
);

export function tensorTypeOf(id: number): GgufTensorType | undefined {
  return BY_ID.get(id as (typeof BLOCK_FORMATS)[GgufTensorType]["id"]);
}

/** What to call a type that is not read. */
export function unreadTypeName(id: number): string {
  return OTHERS[id] ?? `number ${id}`;
}
