/**
 * The embedded engine on a 135M-parameter Llama shape against its peers, in one run: a LoRA training step
 * against PyTorch, decoding against llama.cpp (F16 GGUF of the same weights). Each peer runs between two
 * runs of ours, so that a machine that slows down or speeds up favours nobody.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { llama135m } from "./engine/llama-135m.ts";
import { currentTorch, debianTorch, llamaCppDecode, torchStep } from "./engine/peers.ts";
import { exec, lastJson, median, type Figures } from "./figures.ts";

const BATCH = 8;
const POSITIONS = 64;
const RANK = 16;
const PROMPT_TOKENS = 32;
const NEW_TOKENS = 64;

interface OurStep {
  stepMs: number;
  tokensPerS: number;
  peakRssMiB: number;
  peakFraction: number;
}

interface OurDecode {
  decode: Record<string, number>;
  ttft512Ms: number;
}

export async function run(log: (line: string) => void): Promise<Figures> {
  const notes: string[] = [];
  // As containers run the engine (functions/local/container-environment.ts), and the same for the peers.
  process.env["GLIBC_TUNABLES"] ??= "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1";
  const threads = String(availableParallelism());
  log("preparing a random 135M model");
  const { modelDir, ggufFile } = await llama135m();

  const stepArgs = [threads, BATCH, POSITIONS, RANK].map(String);
  const ourStep = (): Promise<OurStep> => ours<OurStep>("train-step.ts", [modelDir, ...stepArgs]);
  const current = await currentTorch(log, notes);
  const debian = await debianTorch(log, notes);
  log("training step: ours, PyTorch, ours, Debian's PyTorch, ours");
  const steps = [await ourStep()];
  const torch = current === undefined ? undefined : await torchStep(current, stepArgs, true, notes);
  steps.push(await ourStep());
  const oldTorch = debian === undefined ? undefined : await torchStep(debian, stepArgs, false, notes);
  steps.push(await ourStep());
  const stepMs = median(steps.map((step) => step.stepMs));
  for (const step of steps) log(`ours: ${JSON.stringify(step)}`);
  for (const peer of [torch, oldTorch]) if (peer) log(`PyTorch: ${JSON.stringify(peer)}`);

  const decodeArgs = [threads, "1,8,32", PROMPT_TOKENS, NEW_TOKENS].map(String);
  const ourDecode = (): Promise<OurDecode> => ours<OurDecode>("decode.ts", [modelDir, ...decodeArgs]);
  log("decoding: ours, llama.cpp, ours");
  const decodes = [await ourDecode()];
  const peer = await llamaCppDecode(log, notes, [ggufFile, ...decodeArgs]);
  decodes.push(await ourDecode());
  const decodeRatio = (count: number): number | null =>
    peer
      ? median(decodes.map((each) => each.decode[count] ?? Number.NaN)) / (peer.decode[count] ?? Number.NaN)
      : null;
  for (const each of decodes) log(`ours: ${JSON.stringify(each)}`);
  if (peer) log(`llama.cpp: ${JSON.stringify(peer)}`);

  return {
    trainTokensPerS: (BATCH * POSITIONS * 1000) / stepMs,
    torchVersion: torch?.version ?? null,
    trainVsTorch: torch ? torch.eagerMs / stepMs : null,
    trainVsTorchCompile: torch?.compileMs ? torch.compileMs / stepMs : null,
    debianTorchVersion: oldTorch?.version ?? null,
    trainVsDebianTorch: oldTorch ? oldTorch.eagerMs / stepMs : null,
    decode1VsLlamaCpp: decodeRatio(1),
    decode8VsLlamaCpp: decodeRatio(8),
    decode32VsLlamaCpp: decodeRatio(32),
    ttft512VsLlamaCpp: peer ? peer.ttft512Ms / median(decodes.map((each) => each.ttft512Ms)) : null,
    peakFraction: median(steps.map((step) => step.peakFraction)),
    peakRssMiB: Math.max(...steps.map((step) => step.peakRssMiB)),
    notes,
  };
}

async function ours<T>(script: string, args: string[]): Promise<T> {
  const path = join(import.meta.dirname, "engine", script);
  const result = await exec(process.execPath, [path, ...args]);
  if (result.code !== 0) throw new Error(`${script} failed:\n${result.stderr}`);
  return lastJson<T>(result.stdout);
}
