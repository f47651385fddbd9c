import { coldStartMs } from "../../../sdk/schema/cold-start.ts";
import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { chatView, type ChatProps } from "./chat-view.ts";
import { durationText, numberText } from "./format.ts";
import { h, type View } from "./h.ts";
import { outputView, type LogsProps } from "./logs-view.ts";
import { agoView, failureView, section, stateView } from "./parts.ts";

export interface EndpointProps {
  endpoint: Endpoint;
  chat: ChatProps;
  logs: LogsProps;
  nowMs: number;
  problem?: string | undefined;
  onStop?: () => void;
}

/** An endpoint: what it serves, how it is, and a conversation with it. */
export function endpointView(props: EndpointProps): View {
  const { endpoint, nowMs } = props;
  const isOver = endpoint.state === "stopped" || endpoint.state === "stopping";
  return h(
    "div",
    { class: "endpoint" },
    h(
      "header",
      { class: "head" },
      h(
        "div",
        { class: "title" },
        h("h1", null, endpoint.name),
        h(
          "p",
          { role: "status" },
          stateView(endpoint.state),
          h("span", { class: "phase" }, replicaText(endpoint)),
        ),
        isOver || props.onStop === undefined
          ? null
          : h("button", { type: "button", class: "quiet", onClick: props.onStop }, "Stop"),
      ),
      h(
        "p",
        { class: "mute" },
        endpoint.checkpoint === undefined
          ? null
          : h("a", { href: runPath(endpoint.checkpoint) }, endpoint.checkpoint),
        endpoint.checkpoint === undefined ? "" : " of ",
        `${endpoint.model.name} · ${endpoint.public ? "public" : "with a key"} · launched `,
        agoView(endpoint.createdAtMs, nowMs),
        coldStartText(endpoint),
      ),
    ),
    props.problem === undefined ? null : h("p", { class: "problem", role: "alert" }, props.problem),
    endpoint.failure === undefined ? null : failureView(endpoint.failure),
    h(
      "div",
      { class: "columns" },
      section("chat", "Chat", chatView(props.chat)),
      h(
        "div",
        null,
        section("use", "From your code", useView(endpoint)),
        section("logs", "Logs", outputView("Container output", props.logs.output, props.logs.onOutput)),
      ),
    ),
  );
}

/** How many containers answer, where that says more than the state. */
export function replicaText({ replicas, state }: Endpoint): string {
  const loading = replicas.find((replica) => replica.state !== "ready" && replica.state !== "gone");
  if (state === "ready" || loading === undefined) return "";
  return loading.state === "waiting" ? "waiting for capacity" : `container is ${loading.state}`;
}

/** What a caller waits for who finds it asleep. */
export function coldStartText(endpoint: Pick<Endpoint, "replicas">): string {
  const ms = coldStartMs(endpoint);
  if (ms === undefined) return "";
  return ` · cold start ${ms < 60_000 ? `${numberText(ms / 1000)} s` : durationText(ms)}`;
}

function useView({ name, url }: Endpoint): View {
  const curl = [
    "export SPOTTER_KEY=$(npx spotter key create app)",
    "",
    `curl ${url}/chat/completions \\`,
    '  -H "Authorization: Bearer $SPOTTER_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"model":"${name}",`,
    '       "messages":[{"role":"user","content":"Hi"}]}\'',
  ];
  return h(
    "div",
    null,
    h(
      "p",
      { class: "mute" },
      "Any OpenAI client works: base URL ",
      h("code", null, url),
      ", model ",
      h("code", null, name),
      ".",
    ),
    h(
      "pre",
      { class: "code", tabindex: "0", role: "region", "aria-label": "Example with curl" },
      curl.join("\n"),
    ),
  );
}

function runPath(checkpoint: string): string {
  return `/ui/runs/${encodeURIComponent(checkpoint.slice(0, checkpoint.lastIndexOf("@")))}`;
}
