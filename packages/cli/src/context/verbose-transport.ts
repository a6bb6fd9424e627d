import type { ApiRequest, Clock, Transport } from "@capstan/apimachinery";

/** Logs the URL, status and duration of every request, but never a body, as `kubectl -v=6` does. */
export function verboseTransport(
  inner: Transport,
  server: string,
  clock: Clock,
  say: (text: string) => void,
): Transport {
  const describe = ({ method, path, query }: ApiRequest): string => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {}))
      for (const single of value === undefined ? [] : [value].flat()) parameters.append(name, single);
    const text = parameters.toString();
    return `${method} ${server}${path}${text === "" ? "" : `?${text}`}`;
  };
  return {
    request: async (request, signal) => {
      const started = clock.monotonic();
      const after = (): string => `${Math.round(clock.monotonic() - started)} ms`;
      try {
        const answer = await inner.request(request, signal);
        say(`${describe(request)} ${answer.status} in ${after()}\n`);
        return answer;
      } catch (error) {
        say(`${describe(request)} failed after ${after()}\n`);
        throw error;
      }
    },
    watch: (request, signal) => {
      say(`${describe(request)} watched\n`);
      return inner.watch(request, signal);
    },
    close: () => inner.close(),
  };
}
