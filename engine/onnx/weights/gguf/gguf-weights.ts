import type { WeightsFile } from "../weights-file.ts";
import { GgufFile } from "./gguf-file.ts";
import { architectureOf, headSizeOf } from "./hf-config.ts";
import { hfTensorName } from "./names.ts";
import { isInterleaved, toHalves } from "./rotary-order.ts";

/** The weights of a GGUF file as Hugging Face names and orders them. */
export class GgufWeights implements WeightsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, { readonly shape: number[] }>;
  readonly #file: GgufFile;
  readonly #names: ReadonlyMap<string, string>;

  constructor(file: GgufFile) {
    this.path = file.path;
    this.#file = file;
    this.#names = new Map(
      [...file.tensors.keys()].flatMap((name): [string, string][] => {
        const known = hfTensorName(name);
        return known === undefined ? [] : [[known, name]];
      }),
    );
    this.tensors = new Map(
      [...this.#names].map(([known, name]) => [known, { shape: file.tensors.get(name)?.shape ?? [] }]),
    );
  }

  static async open(path: string): Promise<GgufWeights> {
    return new GgufWeights(await GgufFile.open(path));
  }

  async readInto(name: string, target: Float32Array): Promise<void> {
    await this.#file.readInto(this.#names.get(name) ?? name, target);
    if (!isInterleaved(architectureOf(this.#file), name)) return;
    const [, width = 1] = this.tensors.get(name)?.shape ?? [];
    target.set(toHalves(target, headSizeOf(this.#file), width));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
