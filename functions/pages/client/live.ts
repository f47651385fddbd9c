/**
 * Follows a stream of server-sent events and says in the page's bar how it goes. The browser reconnects by
 * itself, and sends along the id of the last message. `onNews` returns true when nothing will follow.
 */
export function follow<T>(path: string, onNews: (news: T) => boolean | void): void {
  const source = new EventSource(path);
  source.onopen = () => say("live", "Live");
  source.onmessage = (message: MessageEvent<string>) => {
    if (onNews(JSON.parse(message.data) as T) !== true) return;
    source.close();
    say("ended", "");
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED)
      say("lost", "The session has ended. Run `spotter open` for a new one.");
    else say("lost", "Reconnecting …");
  };
}

function say(state: string, text: string): void {
  const place = document.querySelector<HTMLElement>("#connection");
  if (place === null) return;
  place.dataset["state"] = state;
  place.textContent = text;
}
