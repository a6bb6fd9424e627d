import { formatAge } from "@capstan/apimachinery";
import { useSyncExternalStore } from "react";

const TICK_MS = 5_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const notify of listeners) notify();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Shows an age in kubectl's format and keeps it current; all ages share one timer. */
export function Age({ since }: { since: string }): React.ReactNode {
  const at = useSyncExternalStore(subscribe, () => now);
  if (since === "") return "–";
  return (
    <time dateTime={since} title={since}>
      {formatAge(Math.max(0, at - Date.parse(since)))}
    </time>
  );
}
