import type { Request } from "@capstan/runtime";

interface Entry<H> {
  readonly request: Request;
  matches(host: H): boolean;
  /** Key of the host that the machine was called for and has not answered yet. */
  offer?: string | undefined;
}

/**
 * Machines that found no host, longest waiting first. A free host is offered to the first machine that it matches; the machine keeps its
 * place until it has a host, so that one that loses the race for a host is not sent to the end.
 */
export class WaitingList<H> {
  readonly #entries = new Map<string, Entry<H>>();

  /** A machine waits, or waits again. Returns the key of the host that it was offered and did not take. */
  wait(machine: string, request: Request, matches: (host: H) => boolean): string | undefined {
    const before = this.#entries.get(machine);
    // A key that is in the map keeps its place there.
    this.#entries.set(machine, { request, matches });
    return before?.offer;
  }

  /** A machine keeps a host on offer that it failed to claim. Returns the key of the host that it was offered before. */
  hold(machine: string, request: Request, key: string): string | undefined {
    const before = this.#entries.get(machine);
    this.#entries.set(machine, { request, matches: before?.matches ?? (() => true), offer: key });
    return before?.offer;
  }

  /** A machine waits no more. Returns the key of the host that it was offered and has not answered. */
  leave(machine: string): string | undefined {
    const before = this.#entries.get(machine);
    this.#entries.delete(machine);
    return before?.offer;
  }

  /** Offers a host to the first machine that it matches and that has no other offer; returns that machine. */
  offer(key: string, host: H, namespace: string): Request | undefined {
    for (const entry of this.#entries.values()) {
      if (entry.offer !== undefined || entry.request.namespace !== namespace || !entry.matches(host)) continue;
      entry.offer = key;
      return entry.request;
    }
    return undefined;
  }

  /** Reports whether a machine that waits could use a host. */
  wants(machine: string, host: H): boolean {
    return this.#entries.get(machine)?.matches(host) === true;
  }
}
