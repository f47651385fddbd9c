import type { Endpoint } from "../../../sdk/schema/endpoint.ts";
import { endpointView } from "../views/endpoint-view.ts";
import type { EndpointNews } from "../views/news.ts";
import { messageOf, post } from "./api.ts";
import { createConversation } from "./conversation.ts";
import { follow } from "./live.ts";
import { followLogs } from "./logs.ts";
import { mount } from "./mount.ts";

export function startEndpoint(root: HTMLElement, name: string): void {
  const path = `/ui/api/endpoints/${encodeURIComponent(name)}`;
  let endpoint: Endpoint | undefined;
  let problem: string | undefined;
  const conversation = createConversation(name, () => changed());
  const logs = followLogs(
    `${path}/logs`,
    () => changed(),
    () => endpoint !== undefined && serves(endpoint),
  );
  const changed = mount(root, view, () => keepAtEnd(root));

  follow<EndpointNews>(
    () => `${path}/news`,
    (news) => {
      endpoint = news.endpoint;
      changed();
    },
  );

  function view() {
    if (endpoint === undefined) throw new Error("The view was asked for before the first news.");
    const chat = { ...conversation.props(), canSend: serves(endpoint) };
    return endpointView({ endpoint, chat, logs, problem, nowMs: Date.now(), onStop: () => void stop() });
  }

  async function stop(): Promise<void> {
    if (!confirm(`Stop ${name}? Requests to it will fail until it is launched again.`)) return;
    try {
      endpoint = await post<Endpoint>(`${path}/stop`);
    } catch (error) {
      problem = messageOf(error);
    }
    changed();
  }
}

function serves({ state }: Endpoint): boolean {
  return state === "creating" || state === "ready" || state === "updating";
}

/** What is being written stays in view, unless someone scrolled up to read. */
function keepAtEnd(root: HTMLElement): void {
  const turns = root.querySelector<HTMLElement>(".turns");
  if (turns === null) return;
  const behind = turns.scrollHeight - turns.clientHeight - turns.scrollTop;
  if (turns.ariaBusy === "true" && behind < 160) turns.scrollTop = turns.scrollHeight;
}
