import { encodeElements } from "../elements.ts";
import { BLOCK_FORMATS } from "./types.ts";

/** The types that are written. */
export const WRITTEN_TYPES = ["F32", "F16", "BF16", "Q8_0"] as const;
export type WrittenType = (typeof WRITTEN_TYPES)[number];

/** Float32 as the bytes of a tensor of a GGUF file; rows of Q8_0 are multiples of 32. */
export function quantize(type: WrittenType, data: Float32Array): Uint8Array {
  return type === "Q8_0" ? quantizeQ8(data) : encodeElements(type, data);
}

/** The same bits as ggml's own: scale and quotient are rounded to float32, halves away from zero. */
function quantizeQ8(data: Float32Array): Uint8Array {
  const { elements, bytes } = BLOCK_FORMATS.Q8_0;
  const blocks = data.length / elements;
  const out = new Uint8Array(blocks * bytes);
  const scales = new Float32Array(blocks);
  for (let block = 0; block < blocks; block++) {
    const values = data.subarray(block * elements, (block + 1) * elements);
    let largest = 0;
    for (const value of values) largest = Math.max(largest, Math.abs(value));
    const scale = Math.fround(largest / 127);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    scales[block] = scale;
    for (let i = 0; i < elements; i++) {
      const value = Math.fround((values[i] ?? 0) * inverse);
      out[block * bytes + 2 + i] = Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
    }
  }
  const halves = encodeElements("F16", scales);
  for (let block = 0; block < blocks; block++)
    out.set(halves.subarray(2 * block, 2 * block + 2), block * bytes);
  return out;
}
