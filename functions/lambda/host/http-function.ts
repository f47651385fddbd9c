import * as z from "zod/mini";
import { SpotterError } from "../../../sdk/schema/errors.ts";
import type { AwsAdapters } from "../../aws/aws-deps/open.ts";
import type { Control } from "../../control.ts";
import { createApp } from "../../http/create-app.ts";
import type { Route } from "../../http/route.ts";
import { awake } from "./awake.ts";
import { errorAnswer, healthAnswer, throughFrontDoor, toldByFrontDoor } from "./front-door.ts";
import {
  answerOf,
  streaming,
  streamOf,
  writeAnswer,
  type FunctionUrlAnswer,
  type FunctionUrlEvent,
  type LambdaContext,
  type StreamingHandler,
} from "./function-url.ts";
import { planeOf, type Plane, type PlaneParams } from "./plane.ts";
import { soundBody } from "./sound-body.ts";

/** What each function that answers over HTTP needs to know besides what its ports do. */
const door = {
  SPOTTER_ORIGIN_SECRET: z.string().check(z.minLength(32)),
};

interface HttpFunctionParams extends Omit<PlaneParams, "wake"> {
  /** Its routes; health is answered by every function. */
  routes: (control: Control) => Route[];
  /** A stream of events ends after this long; whoever reads it comes again and goes on. */
  maxStreamMs?: number;
}

type Handler = (event: FunctionUrlEvent, context: LambdaContext) => Promise<FunctionUrlAnswer>;

interface Opened<T> extends Plane {
  answer: T;
}

/** A function that gives whole answers. */
export function httpFunction(params: HttpFunctionParams): Handler {
  const open = opener(params, answerOf);
  const answer: Handler = async (event, context) => {
    if (isHealth(event)) return healthAnswer();
    const plane = open(event);
    const admitted = admit(event, plane);
    await plane.prepare();
    const given = await plane.answer(admitted, context);
    await plane.flush();
    return given;
  };
  return (event, context) => awake(() => answer(event, context)).catch(refusal);
}

/** A function that answers piece by piece. */
export function streamingFunction(params: HttpFunctionParams): StreamingHandler {
  const open = opener(params, streamOf);
  const answer: StreamingHandler = async (event, stream, context) => {
    let plane: Opened<StreamingHandler>;
    let admitted: FunctionUrlEvent;
    try {
      if (isHealth(event)) return writeAnswer(stream, healthAnswer());
      plane = open(event);
      admitted = admit(event, plane);
      await plane.prepare();
    } catch (error) {
      return writeAnswer(stream, refusal(error));
    }
    await plane.answer(admitted, stream, context);
    await plane.flush();
  };
  return streaming((event, stream, context) => awake(() => answer(event, stream, context)));
}

function opener<T>(
  params: HttpFunctionParams,
  answering: (app: { fetch: ReturnType<typeof createApp>["fetch"] }) => T,
): (event: FunctionUrlEvent) => Opened<T> {
  const plane = planeOf({ ...params, adapters: withDoor(params.adapters) });
  let opened: Opened<T> | undefined;
  return (event) => (opened ??= create(event));

  function create(event: FunctionUrlEvent): Opened<T> {
    const mine = plane(toldByFrontDoor(event, process.env));
    const app = createApp(mine.control, params.routes(mine.control));
    const fetch: typeof app.fetch = async (request, ...rest) =>
      soundBody(mine.control, await app.fetch(request, ...rest), {
        path: new URL(request.url).pathname,
        maxStreamMs: params.maxStreamMs,
      });
    return { ...mine, answer: answering({ fetch }) };
  }
}

function withDoor(adapters: AwsAdapters): AwsAdapters {
  const { store } = adapters;
  return { ...adapters, store: { ...store, variables: { ...store.variables, ...door } } };
}

/** Asked by anyone, and also of a function whose settings are wrong. */
function isHealth({ rawPath, requestContext }: FunctionUrlEvent): boolean {
  return rawPath === "/health" && requestContext.http.method === "GET";
}

function admit(event: FunctionUrlEvent, { control, settings }: Plane): FunctionUrlEvent {
  return throughFrontDoor(event, {
    secret: String(settings["SPOTTER_ORIGIN_SECRET"]),
    publicUrl: control.config.publicUrl(),
  });
}

function refusal(thrown: unknown): FunctionUrlAnswer {
  const error = SpotterError.from(thrown);
  // There may be no log yet: what is wrong is the settings of it too.
  if (error.status >= 500) process.stderr.write(`${JSON.stringify({ level: "error", ...error.toBody() })}\n`);
  return errorAnswer(error);
}
