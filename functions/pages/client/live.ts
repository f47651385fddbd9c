/**
 * Follows a stream of server-sent events and says in the page's bar how it goes. The browser reconnects by
 * itself, and sends along the id of the last message. `onNews` returns true when nothing will follow.
 *
 * A page that nobody looks at lets go of its stream: a browser opens six connections to one host, and tabs
 * in the background would use them up. `path` is asked again when someone looks.
 */
export function follow<T>(path: () => string, onNews: (news: T) => boolean | void): void {
  let source: EventSource | undefined;
  let hasEnded = false;

  function open(): void {
    const opened = (source = new EventSource(path()));
    opened.onopen = () => say("live", "Live");
    opened.onmessage = (message: MessageEvent<string>) => {
      if (onNews(JSON.parse(message.data) as T) !== true) return;
      hasEnded = true;
      close();
      say("ended", "");
    };
    opened.onerror = () => {
      if (opened.readyState === EventSource.CLOSED)
        say("lost", "The session has ended. Run `spotter open` for a new one.");
      else say("lost", "Reconnecting …");
    };
  }

  function close(): void {
    source?.close();
    source = undefined;
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (source === undefined && !hasEnded) open();
  });
  if (!document.hidden) open();
}

function say(state: string, text: string): void {
  const place = document.querySelector<HTMLElement>("#connection");
  if (place === null) return;
  place.dataset["state"] = state;
  place.textContent = text;
}
