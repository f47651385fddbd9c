/** Bytes of one element of each type we read. */
export const ELEMENT_BYTES = { F32: 4, F16: 2, BF16: 2 } as const;
export type ElementType = keyof typeof ELEMENT_BYTES;

/** Little-endian `bytes` as float32. */
export function decodeElements(type: ElementType, bytes: Uint8Array, target: Float32Array): void {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  if (type === "F32") {
    target.set(new Float32Array(aligned.buffer, aligned.byteOffset, target.length));
    return;
  }
  const halves = new Uint16Array(aligned.buffer, aligned.byteOffset, target.length);
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  const table = type === "F16" ? halfTable() : undefined;
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i] ?? 0;
    bits[i] = table === undefined ? half << 16 : (table[half] ?? 0);
  }
}

/** float32 as little-endian bytes of another type. */
export function encodeElements(type: ElementType, data: Float32Array): Uint8Array {
  if (type === "F32") return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const halves = new Uint16Array(data.length);
  const round = type === "F16" ? roundToHalf : roundToBfloat16;
  for (let i = 0; i < bits.length; i++) halves[i] = round(bits[i] ?? 0);
  return new Uint8Array(halves.buffer);
}

/** Nearest, ties to even; what is too large becomes infinite. */
function roundToHalf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return sign | 0x7e00;
  if (rest >= 0x477ff000) return sign | 0x7c00;
  if (rest < 0x38800000) return sign | subnormalHalf(rest);
  return sign | ((rest - 0x38000000 + 0xfff + ((rest >>> 13) & 1)) >>> 13);
}

/** Below the smallest normal half, numbers are multiples of 2^-24. */
function subnormalHalf(bits: number): number {
  const shift = 126 - (bits >>> 23);
  if (shift > 24) return 0;
  const fraction = (bits & 0x7fffff) | 0x800000;
  const kept = fraction >>> shift;
  const lost = fraction & (2 ** shift - 1);
  const half = 2 ** (shift - 1);
  return kept + (lost > half || (lost === half && (kept & 1) === 1) ? 1 : 0);
}

/** Nearest, ties to even; a NaN stays one. */
function roundToBfloat16(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

let table: Float32Array | undefined;

/** Every half-precision pattern as a number; one table look-up beats unpacking each element. */
export function halfValues(): Float32Array {
  table ??= Float32Array.from({ length: 1 << 16 }, (_, half) => halfToNumber(half));
  return table;
}

/** The same as float32 bits. */
function halfTable(): Uint32Array {
  return new Uint32Array(halfValues().buffer);
}

function halfToNumber(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
