/**
 * The numbers that a tensor of a GGUF file stands for. Every product here is exact in a double, so that one
 * rounding to float32 is all there is: the same bits as ggml's own reference gives.
 *
 * @module
 */
import { decodeElements, halfValues } from "../elements.ts";
import { BLOCK_FORMATS, type GgufTensorType } from "./types.ts";

/** Fills `target` from whole blocks; `bytes` has exactly as many as that takes. */
export function dequantize(type: GgufTensorType, bytes: Uint8Array, target: Float32Array): void {
  if (type === "F32" || type === "F16" || type === "BF16") return decodeElements(type, bytes, target);
  const format = BLOCK_FORMATS[type];
  const decode = DECODERS[type];
  const blocks = target.length / format.elements;
  for (let block = 0; block < blocks; block++)
    decode(bytes, block * format.bytes, target, block * format.elements);
}

type BlockDecoder = (bytes: Uint8Array, from: number, target: Float32Array, to: number) => void;
type QuantizedType = Exclude<GgufTensorType, "F32" | "F16" | "BF16">;

const DECODERS: Readonly<Record<QuantizedType, BlockDecoder>> = {
  Q4_0(bytes, from, target, to) {
    const scale = half(bytes, from);
    for (let i = 0; i < 16; i++) {
      const pair = at(bytes, from + 2 + i);
      target[to + i] = scale * ((pair & 15) - 8);
      target[to + 16 + i] = scale * ((pair >> 4) - 8);
    }
  },
  Q4_1(bytes, from, target, to) {
    const scale = half(bytes, from);
    const least = half(bytes, from + 2);
    for (let i = 0; i < 16; i++) {
      const pair = at(bytes, from + 4 + i);
      target[to + i] = scale * (pair & 15) + least;
      target[to + 16 + i] = scale * (pair >> 4) + least;
    }
  },
  Q5_0(bytes, from, target, to) {
    const scale = half(bytes, from);
    for (let i = 0; i < 32; i++) target[to + i] = scale * (fiveBits(bytes, from + 2, i) - 16);
  },
  Q5_1(bytes, from, target, to) {
    const scale = half(bytes, from);
    const least = half(bytes, from + 2);
    for (let i = 0; i < 32; i++) target[to + i] = scale * fiveBits(bytes, from + 4, i) + least;
  },
  Q8_0(bytes, from, target, to) {
    const scale = half(bytes, from);
    for (let i = 0; i < 32; i++) target[to + i] = scale * signed(bytes, from + 2 + i);
  },
  Q4_K(bytes, from, target, to) {
    const scale = half(bytes, from);
    const minimum = half(bytes, from + 2);
    for (let part = 0; part < 8; part++) {
      const step = scale * partScale(bytes, from + 4, part);
      const least = minimum * partMinimum(bytes, from + 4, part);
      const values = from + 16 + (part >> 1) * 32;
      const shift = (part & 1) * 4;
      for (let i = 0; i < 32; i++)
        target[to + part * 32 + i] = step * ((at(bytes, values + i) >> shift) & 15) - least;
    }
  },
  Q5_K(bytes, from, target, to) {
    const scale = half(bytes, from);
    const minimum = half(bytes, from + 2);
    for (let part = 0; part < 8; part++) {
      const step = scale * partScale(bytes, from + 4, part);
      const least = minimum * partMinimum(bytes, from + 4, part);
      const values = from + 48 + (part >> 1) * 32;
      const shift = (part & 1) * 4;
      for (let i = 0; i < 32; i++) {
        const low = (at(bytes, values + i) >> shift) & 15;
        const high = (at(bytes, from + 16 + i) >> part) & 1;
        target[to + part * 32 + i] = step * (low | (high << 4)) - least;
      }
    }
  },
  Q6_K(bytes, from, target, to) {
    const scale = half(bytes, from + 208);
    for (let part = 0; part < 8; part++) {
      // Two halves of 128 elements; in each, four runs of 32 share the low and the high bytes.
      const within = part & 3;
      const low = from + (part >> 2) * 64 + (within & 1) * 32;
      const high = from + 128 + (part >> 2) * 32;
      for (let i = 0; i < 32; i++) {
        const value =
          ((at(bytes, low + i) >> ((within >> 1) * 4)) & 15) |
          (((at(bytes, high + i) >> (within * 2)) & 3) << 4);
        const step = scale * signed(bytes, from + 192 + part * 2 + (i >> 4));
        target[to + part * 32 + i] = step * (value - 32);
      }
    }
  },
};

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

function signed(bytes: Uint8Array, index: number): number {
  return (at(bytes, index) << 24) >> 24;
}

function half(bytes: Uint8Array, index: number): number {
  return halfValues()[at(bytes, index) | (at(bytes, index + 1) << 8)] ?? 0;
}

/** Element `i` of a block whose fifth bits come first, in four bytes, and the other four after them. */
function fiveBits(bytes: Uint8Array, from: number, i: number): number {
  const high = (at(bytes, from + (i >> 3)) >> (i & 7)) & 1;
  const pair = at(bytes, from + 4 + (i & 15));
  return (i < 16 ? pair & 15 : pair >> 4) | (high << 4);
}

/** Twelve bytes hold eight scales and eight minima of six bits: four each in the low bits, then the other four. */
function partScale(bytes: Uint8Array, from: number, part: number): number {
  if (part < 4) return at(bytes, from + part) & 63;
  return (at(bytes, from + 4 + part) & 15) | ((at(bytes, from + part - 4) >> 6) << 4);
}

function partMinimum(bytes: Uint8Array, from: number, part: number): number {
  if (part < 4) return at(bytes, from + 4 + part) & 63;
  return (at(bytes, from + 4 + part) >> 4) | ((at(bytes, from + part) >> 6) << 4);
}
