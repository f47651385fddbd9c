import { loadLlamaConfig, type LlamaConfig } from "../onnx/models/llama-config.ts";
import { llamaParameters } from "../onnx/models/llama-parameters.ts";
import { loadAdapter } from "../onnx/models/peft.ts";
import { checkShapes, weightFiles } from "../onnx/weights/load.ts";
import { openWeights, type WeightsFile } from "../onnx/weights/weights-file.ts";

/** A tensor of an export, by Hugging Face's name; its numbers are read when their turn comes. */
export interface ExportTensor {
  name: string;
  shape: readonly number[];
  read: () => Promise<Float32Array>;
}

/** What one adapter adds to a model: `scale B A` for every targeted matrix. */
interface Adapter {
  rank: number;
  scale: number;
  matrices: ReadonlyMap<string, Float32Array>;
}

/** The weights of a model, with an adapter merged into them where there is one; one tensor is in memory at a time. */
export class MergedWeights implements AsyncDisposable {
  readonly config: LlamaConfig;
  readonly #files: readonly WeightsFile[];
  readonly #adapter: Adapter | undefined;

  private constructor(config: LlamaConfig, files: readonly WeightsFile[], adapter: Adapter | undefined) {
    this.config = config;
    this.#files = files;
    this.#adapter = adapter;
  }

  /** @throws SpotterError `model_not_found`, `model_unsupported` or `model_corrupt`, naming file and key. */
  static async open(modelDir: string, adapterDir?: string): Promise<MergedWeights> {
    const config = await loadLlamaConfig(modelDir);
    const paths = await weightFiles(modelDir);
    await checkShapes(llamaParameters(config), paths);
    const adapter = adapterDir === undefined ? undefined : await readAdapter(config, adapterDir);
    return new MergedWeights(config, await Promise.all(paths.map(openWeights)), adapter);
  }

  /** In the order of the forward pass. */
  tensors(): ExportTensor[] {
    return llamaParameters(this.config).flatMap(({ shape, parts }) =>
      parts.map(({ name, rows }) => {
        const whole = [rows, ...shape.slice(1)];
        return { name, shape: whole, read: () => this.#read(name, whole) };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#files.map((file) => file.close()));
  }

  async #read(name: string, shape: readonly number[]): Promise<Float32Array> {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    await this.#files.find(({ tensors }) => tensors.has(name))?.readInto(name, data);
    if (this.#adapter !== undefined) merge(name, data, this.#adapter);
    return data;
  }
}

async function readAdapter(config: LlamaConfig, dir: string): Promise<Adapter> {
  const { rank, scale, parameters } = await loadAdapter(config, dir);
  const matrices = new Map(parameters.diskTensors().map(({ name, data }) => [name, data]));
  return { rank, scale, matrices };
}

function merge(name: string, weights: Float32Array, { rank, scale, matrices }: Adapter): void {
  const matrix = (which: string): Float32Array | undefined =>
    matrices.get(`base_model.model.${name.replace(/weight$/, `${which}.weight`)}`);
  const [down, up] = [matrix("lora_A"), matrix("lora_B")];
  if (down === undefined || up === undefined) return;
  const width = down.length / rank;
  const sum = new Float64Array(width);
  for (let row = 0; row * width < weights.length; row++) {
    sum.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = scale * (up[row * rank + k] ?? 0);
      for (let column = 0; column < width; column++)
        sum[column] = (sum[column] ?? 0) + factor * (down[k * width + column] ?? 0);
    }
    for (let column = 0; column < width; column++) {
      const at = row * width + column;
      weights[at] = (weights[at] ?? 0) + (sum[column] ?? 0);
    }
  }
}
