import { useEffect, useSyncExternalStore } from "react";
import { RequestError } from "../api/request.ts";
import { readSession } from "../api/session.ts";
import { type Connection, LiveStream } from "./live-stream.ts";
import { type TopicState, TopicStore } from "./topic-store.ts";

const store = new TopicStore();

/** The event stream of this tab. */
export const live = new LiveStream({
  store,
  open: (url, handlers) => {
    const source = new EventSource(url);
    source.onopen = () => handlers.opened();
    source.onmessage = (event: MessageEvent<string>) => handlers.message(event.data, event.lastEventId);
    source.onerror = () => handlers.lost();
    source.addEventListener("signed-out", () => handlers.signedOut());
    return () => source.close();
  },
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
  // Only a 401 ends the session: an unreachable server says nothing about it.
  signedIn: () =>
    readSession().then(
      () => true,
      (error: unknown) => !(error instanceof RequestError && error.status === 401),
    ),
});

/** Subscribes to a topic while the component is mounted and returns its content. */
export function useTopic<T>(topic: string): TopicState<T> {
  useEffect(() => live.follow(topic), [topic]);
  return useSyncExternalStore(
    (listener) => store.subscribe(topic, listener),
    () => store.state(topic),
  ) as TopicState<T>;
}

/** Returns the state of the stream's connection. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => live.subscribe(listener),
    () => live.connection,
  );
}
