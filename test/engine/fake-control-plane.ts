import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CheckpointFile } from "../../sdk/schema/checkpoint.ts";
import type { JobEnvironment, JobEventBody, JobFile, JobSpec } from "../../sdk/schema/job.ts";
import type { RewardRow, Rollout, Verdict } from "../../sdk/schema/rollout.ts";
import type { JobTeacherReply, TeacherQuestion } from "../../sdk/schema/job-teacher.ts";

export const TOKEN = "job-token";

interface StoredCheckpoint {
  step: number;
  kind: string;
  files: Map<string, Buffer>;
  announced: CheckpointFile[];
  metrics: Record<string, number> | undefined;
  complete: boolean;
}

type Handler = (body: unknown, ...groups: string[]) => unknown;

/** A control plane with only the jobs routes, kept in memory, that can be made to misbehave. */
export interface FakeControlPlane extends AsyncDisposable {
  url: string;
  env: JobEnvironment;
  job: JobSpec | undefined;
  /** Stored events by seq: what a (attempt, seq)-idempotent store ends up with. */
  events: JobEventBody[];
  beats: { attempt: number; phase?: string; step?: number }[];
  cancel: boolean;
  rollouts: Map<number, Rollout[]>;
  checkpoints: Map<number, StoredCheckpoint>;
  /** Converted weights by key; complete ones have their files. */
  conversions: Map<string, { announced: CheckpointFile[]; files: Map<string, Buffer>; complete: boolean }>;
  judge: (rows: RewardRow[]) => Verdict[] | Promise<Verdict[]>;
  chat: (body: Record<string, unknown>) => unknown;
  teach: (question: TeacherQuestion) => JobTeacherReply;
  requests: { method: string; path: string; authorization: string | undefined }[];
  /** Called before each request; true when it answered (or cut) the request itself. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called after a request took effect, before the answer leaves; true drops the answer. */
  loseAnswer: (request: IncomingMessage) => boolean;
  addFile(path: string, content: string | Buffer): JobFile;
  /** The files of a stored checkpoint as a job would hand them out. */
  filesOf(step: number): JobFile[];
}

export async function startFakeControlPlane(workDir: string): Promise<FakeControlPlane> {
  const blobs = new Map<string, Buffer>();
  const server: Server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const plane: FakeControlPlane = {
    url,
    env: { SPOTTER_URL: url, SPOTTER_JOB_ID: "job-1", SPOTTER_JOB_TOKEN: TOKEN, SPOTTER_WORK_DIR: workDir },
    job: undefined,
    events: [],
    beats: [],
    cancel: false,
    rollouts: new Map(),
    checkpoints: new Map(),
    conversions: new Map(),
    judge: (rows) => rows.map(() => score(1)),
    chat: () => {
      throw new Error("no chat in this test");
    },
    teach: () => {
      throw new Error("no teacher in this test");
    },
    requests: [],
    intercept: () => false,
    loseAnswer: () => false,
    addFile: (path, content) => {
      const bytes = Buffer.from(content);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      blobs.set(sha256, bytes);
      return { path, url: `${url}/blobs/${sha256}`, size: bytes.length, sha256 };
    },
    filesOf: (step) =>
      [...(plane.checkpoints.get(step)?.files ?? [])].map(([path, bytes]) => plane.addFile(path, bytes)),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  const routes: [RegExp, Handler][] = [
    [/^GET \/jobs\/job-1$/, () => plane.job],
    [
      /^POST \/jobs\/job-1\/heartbeat$/,
      (body) => (plane.beats.push(body as never), { cancel: plane.cancel }),
    ],
    [/^POST \/jobs\/job-1\/events$/, (body) => storeEvents(plane, body as never)],
    [
      /^POST \/jobs\/job-1\/rewards$/,
      async (body) => ({ verdicts: await plane.judge((body as { rows: RewardRow[] }).rows) }),
    ],
    [
      /^POST \/jobs\/job-1\/teacher$/,
      (body) => plane.teach((body as { question: TeacherQuestion }).question),
    ],
    [
      /^POST \/jobs\/job-1\/rollouts$/,
      (body) => (
        plane.rollouts.set((body as { step: number }).step, (body as { rollouts: Rollout[] }).rollouts),
        {}
      ),
    ],
    [/^POST \/jobs\/job-1\/checkpoints$/, (body) => announce(plane, body as never)],
    [/^POST \/jobs\/job-1\/checkpoints\/(\d+)\/complete$/, (_body, step) => complete(plane, Number(step))],
    [/^GET \/jobs\/job-1\/conversions\/(\w+)$/, (_body, key) => conversionOf(plane, key ?? "")],
    [
      /^POST \/jobs\/job-1\/conversions\/(\w+)$/,
      (body, key = "") => {
        const { files } = body as { files: CheckpointFile[] };
        plane.conversions.set(key, { announced: files, files: new Map(), complete: false });
        return {
          uploads: files.map(({ path }) => ({ path, url: `${url}/uploads/conversion-${key}/${path}` })),
        };
      },
    ],
    [
      /^POST \/jobs\/job-1\/conversions\/(\w+)\/complete$/,
      (_body, key = "") => {
        const stored = plane.conversions.get(key);
        if (stored) checkAnnounced(stored.announced, stored.files);
        return stored && Object.assign(stored, { complete: true });
      },
    ],
    [/^POST \/v1\/chat\/completions$/, (body) => plane.chat(body as Record<string, unknown>)],
    [/^GET \/blobs\/(\w+)$/, (_body, sha256) => blobs.get(sha256 ?? "")],
  ];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const method = request.method ?? "GET";
    plane.requests.push({ method, path, authorization: request.headers.authorization });
    if (plane.intercept(request, response)) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return answer(response, 401, refusal("unauthorized"));
    const upload = /^\/uploads\/(?:conversion-)?(\w+)\/(.+)$/.exec(path);
    if (method === "PUT" && upload) {
      const { checkpoints, conversions } = plane;
      const target = checkpoints.get(Number(upload[1])) ?? conversions.get(upload[1] ?? "");
      target?.files.set(upload[2] ?? "", bytes);
      return answer(response, 200, {});
    }
    for (const [pattern, handler] of routes) {
      const match = pattern.exec(`${method} ${path}`);
      if (!match) continue;
      const body = bytes.length > 0 ? (JSON.parse(bytes.toString()) as unknown) : undefined;
      const result = await handler(body, ...match.slice(1));
      if (plane.loseAnswer(request)) return void response.destroy();
      return answer(response, result === undefined ? 404 : 200, result ?? refusal("not_found"));
    }
    answer(response, 404, refusal("not_found"));
  }

  return plane;
}

/** A verdict of one reward named `quality`. */
export function score(total: number): Verdict {
  return { total, scores: { quality: { score: total, weight: 1, precondition: false } }, errors: {} };
}

/** No verdict, as for a reward that ran out of time. */
export function noVerdict(code = "reward_timeout", message = "quality took longer than 10000 ms"): Verdict {
  return { scores: {}, errors: { quality: { code, message } } };
}

export function refusal(code: string, kind = "user"): unknown {
  return { error: { code, kind, message: code } };
}

export function answer(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json" }).end(bytes);
}

function storeEvents(
  plane: FakeControlPlane,
  body: { events: { seq: number; body: JobEventBody }[] },
): unknown {
  for (const event of body.events) {
    if (event.seq > plane.events.length + 1) throw new Error(`gap before event ${event.seq}`);
    if (event.seq === plane.events.length + 1) plane.events.push(event.body);
  }
  return { acknowledged: plane.events.length };
}

function announce(
  plane: FakeControlPlane,
  body: { step: number; kind: string; files: CheckpointFile[]; metrics?: Record<string, number> },
): unknown {
  const { step, kind, files, metrics } = body;
  plane.checkpoints.set(step, { step, kind, files: new Map(), announced: files, metrics, complete: false });
  return { uploads: files.map(({ path }) => ({ path, url: `${plane.url}/uploads/${step}/${path}` })) };
}

function complete(plane: FakeControlPlane, step: number): unknown {
  const stored = plane.checkpoints.get(step);
  if (!stored) return undefined;
  checkAnnounced(stored.announced, stored.files);
  stored.complete = true;
  return {
    v: 1,
    id: `run-1@${step}`,
    runId: "run-1",
    step,
    attempt: 0,
    kind: stored.kind,
    model: { name: "spotter/nano" },
    files: stored.announced,
    createdAtMs: 0,
    path: "/nowhere",
  };
}

function checkAnnounced(announced: readonly CheckpointFile[], files: ReadonlyMap<string, Buffer>): void {
  for (const file of announced) {
    const bytes = files.get(file.path);
    const hash = bytes && createHash("sha256").update(bytes).digest("hex");
    if (hash !== file.sha256 || bytes?.length !== file.size)
      throw new Error(`${file.path} is not what was announced`);
  }
}

function conversionOf(plane: FakeControlPlane, key: string): { files: JobFile[] } | undefined {
  const found = plane.conversions.get(key);
  if (found?.complete !== true) return undefined;
  return { files: [...found.files].map(([path, bytes]) => plane.addFile(path, bytes)) };
}
