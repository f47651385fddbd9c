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
/** Times that llama.cpp decodes. */
const DECODE_TURNS = 3;

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
  const { decodes, peers } = await inTurns(
    () => ours<OurDecode>("decode.ts", [modelDir, ...decodeArgs]),
    () => llamaCppDecode(log, notes, [ggufFile, ...decodeArgs]),
    log,
  );
  const rate = (all: readonly OurDecode[], count: number): number =>
    median(all.map(({ decode }) => decode[count] ?? Number.NaN));
  const ratio = (of: (all: readonly OurDecode[]) => number): number | null =>
    peers.length > 0 ? of(decodes) / of(peers) : null;
  const firstTokenRatio = ratio((all) => 1 / median(all.map(({ ttft512Ms }) => ttft512Ms)));

  return {
    trainTokensPerS: (BATCH * POSITIONS * 1000) / stepMs,
    torchVersion: torch?.version ?? null,
    trainVsTorch: torch ? torch.eagerMs / stepMs : null,
    trainVsTorchCompile: torch?.compileMs ? torch.compileMs / stepMs : null,
    debianTorchVersion: oldTorch?.version ?? null,
    trainVsDebianTorch: oldTorch ? oldTorch.eagerMs / stepMs : null,
    decode1VsLlamaCpp: ratio((all) => rate(all, 1)),
    decode8VsLlamaCpp: ratio((all) => rate(all, 8)),
    decode32VsLlamaCpp: ratio((all) => rate(all, 32)),
    ttft512VsLlamaCpp: firstTokenRatio,
    peakFraction: median(steps.map((step) => step.peakFraction)),
    peakRssMiB: Math.max(...steps.map((step) => step.peakRssMiB)),
    notes,
  };
}

/** Ours, theirs, ours, theirs, …, ours: what the machine's neighbours take at one moment is not told of one of us. */
async function inTurns(
  our: () => Promise<OurDecode>,
  their: () => Promise<OurDecode | undefined>,
  log: (line: string) => void,
): Promise<{ decodes: OurDecode[]; peers: OurDecode[] }> {
  log("decoding: ours and llama.cpp in turns");
  const told = (who: string, figures: OurDecode): OurDecode => {
    log(`${who}: ${JSON.stringify(figures)}`);
    return figures;
  };
  const decodes = [told("ours", await our())];
  const peers: OurDecode[] = [];
  for (let turn = 0; turn < DECODE_TURNS; turn++) {
    const peer = await their();
    if (peer === undefined) break;
    peers.push(told("llama.cpp", peer));
    decodes.push(told("ours", await our()));
  }
  return { decodes, peers };
}

async function ours<T>(script: string, args: string[]): Promise<T> {
  const path = join(import.meta.dirname, "engine", script);
  const result = await exec(process.execPath, [path, ...args]);
  if (result.code !== 0) throw new Error(`${script} failed:\n${result.stderr}`);
  return lastJson<T>(result.stdout);
}
