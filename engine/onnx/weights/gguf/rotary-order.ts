/**
 * Llama's GGUF files rotate neighbouring rows of a head, Hugging Face's rows of its two halves: the same
 * numbers in another order. Qwen's files keep the halves.
 *
 * @module
 */

/** Whether a tensor, by Hugging Face's name, lies in the other order in a file of this architecture. */
export function isInterleaved(architecture: string, name: string): boolean {
  return architecture === "llama" && /\.self_attn\.[qk]_proj\.(weight|bias)$/.test(name);
}

/** From neighbouring pairs to halves; `width` is the length of a row. */
export function toHalves(data: Float32Array, headSize: number, width: number): Float32Array {
  return reordered(data, headSize, width, (row) => {
    const half = headSize / 2;
    return row < half ? 2 * row : 2 * (row - half) + 1;
  });
}

/** From halves to neighbouring pairs. */
export function toPairs(data: Float32Array, headSize: number, width: number): Float32Array {
  return reordered(data, headSize, width, (row) => (row >> 1) + (row & 1) * (headSize / 2));
}

/** `source` tells for a row of a head which one of the data it is. */
function reordered(
  data: Float32Array,
  headSize: number,
  width: number,
  source: (row: number) => number,
): Float32Array {
  const out = new Float32Array(data.length);
  for (let row = 0; row * width < data.length; row++) {
    const within = row % headSize;
    const from = (row - within + source(within)) * width;
    out.set(data.subarray(from, from + width), row * width);
  }
  return out;
}
