import type { KubeObject } from "@capstan/apimachinery";

/** Returns the first fitting host by name. A host that comes after one already found is not examined. */
export function firstByName<H extends KubeObject>(hosts: readonly H[], fits: (host: H) => boolean): H | undefined {
  let first: H | undefined;
  for (const host of hosts) {
    if (first !== undefined && (first.metadata.name ?? "") <= (host.metadata.name ?? "")) continue;
    if (fits(host)) first = host;
  }
  return first;
}

/** What a provider calls its hosts, and what a user does about a shortage. */
export interface HostTexts {
  /** Name of several hosts, such as `BareMetalHosts`. */
  readonly hosts: string;
  /** The message if there is no host at all. */
  readonly none: string;
  /** What selects hosts, such as `hostSelector`. */
  readonly selector: string;
  /** What a user labels if the selector matches none, such as `one`. */
  readonly label: string;
  /** Label that holds the failure domain of a host. */
  readonly domainLabel: string;
  /** The word for hosts that can be claimed. */
  readonly free: string;
}

/** What a machine requires of its host, as far as the explanation of a shortage counts it. */
export interface Shortfall<H> {
  readonly failureDomain: string | undefined;
  isSelected(host: H): boolean;
  isInDomain(host: H): boolean;
  /** Returns why a host that matches cannot be claimed. */
  why(host: H): string;
  /** Returns what to do if all hosts that match are taken. */
  cure(matching: readonly H[]): string;
}

/** Describes why none of these hosts can be claimed, and what to do. */
export function explainNoHost<H>(hosts: readonly H[], texts: HostTexts, wanted: Shortfall<H>): string {
  if (hosts.length === 0) return texts.none;
  const selected = hosts.filter((host) => wanted.isSelected(host));
  if (selected.length === 0)
    return `none of ${hosts.length} ${texts.hosts} matches ${texts.selector}: label ${texts.label}, or change the selector`;
  const matching = selected.filter((host) => wanted.isInDomain(host));
  const { failureDomain } = wanted;
  if (matching.length === 0)
    return `none of ${selected.length} matching ${texts.hosts} is in failure domain ${failureDomain}: label one ${texts.domainLabel}=${failureDomain}`;
  const counts = new Map<string, number>();
  for (const host of matching) {
    const why = wanted.why(host);
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const why = [...counts].map(([reason, count]) => `${count} ${reason}`).join(", ");
  return `of ${matching.length} matching ${texts.hosts} none is ${texts.free} (${why}): ${wanted.cure(matching)}`;
}
