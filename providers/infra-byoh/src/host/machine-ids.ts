import type { ByoHost } from "@capstan/host-agent";

/** Annotation on a ByoHost: the machine-id that the manager recorded for it. Agents cannot write it. */
export const MACHINE_ID_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/machine-id";

/** Tracks the machine-ids that hosts report, to find out which of several hosts with the same one had it first. */
export class MachineIds {
  readonly #since = new Map<string, { id: string; at: number }>();

  /** Notes the machine-id of a host. Returns how long it has had it, as far as is known. */
  observe(host: ByoHost, nowMs: number): number {
    const { uid = "", creationTimestamp = "" } = host.metadata;
    const id = host.status?.machineID;
    if (id === undefined) return 0;
    const before = this.#since.get(uid);
    if (before?.id === id) return nowMs - before.at;
    // What a host had before we came it may have had from its beginning.
    this.#since.set(uid, { id, at: before === undefined ? Date.parse(creationTimestamp) : nowMs });
    return 0;
  }

  forget(uid: string): void {
    this.#since.delete(uid);
  }

  /**
   * Returns the host that was first to report a machine-id that several hosts have. A copied ID, by a cloned disk or on purpose, must not
   * put the original host out of service.
   */
  first(hosts: readonly ByoHost[]): ByoHost | undefined {
    return [...hosts].sort((a, b) => compare(this.#rank(a), this.#rank(b)))[0];
  }

  #rank(host: ByoHost): (number | string)[] {
    const { uid = "", name = "", annotations, creationTimestamp = "" } = host.metadata;
    const known = annotations?.[MACHINE_ID_ANNOTATION];
    const trust = known === host.status?.machineID ? 0 : known === undefined ? 1 : 2;
    const since = this.#since.get(uid);
    const at = since?.id === host.status?.machineID ? since?.at : undefined;
    return [trust, host.spec?.machineRef === undefined ? 1 : 0, at ?? Date.parse(creationTimestamp), name];
  }
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i];
    if (right !== undefined && left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
