import type { Clock } from "@capstan/apimachinery";
import type { Machine } from "@capstan/capi";
import type { Client, Logger } from "@capstan/runtime";
import { CERTIFICATES_EXPIRY } from "../annotations.ts";
import { apiPort, readCertificateExpiry } from "./certificate-expiry.ts";
import type { PlaneTarget } from "./workload-side.ts";

const RETRY_MS = 60_000;

/** Dependencies of Expiries. */
export interface ExpiriesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the end of a certificate became known. */
  readonly changed: () => void;
}

/** Finds out when the certificates of each Machine's kube-apiserver end: once per Machine, without holding a reconcile. */
export class Expiries {
  readonly #deps: ExpiriesDeps;
  /** By UID of the Machine: the end, or when to try again. */
  readonly #known = new Map<string, { endMs?: number; retryMs: number }>();

  constructor(deps: ExpiriesDeps) {
    this.#deps = deps;
  }

  /** The end of a Machine's certificates, if it is known by now; begins to find out otherwise. */
  get(client: Client, target: PlaneTarget, machine: Machine): number | undefined {
    const { clock, log, changed } = this.#deps;
    const name = machine.metadata.name ?? "";
    const nodeName = machine.status?.nodeRef?.name;
    const id = machine.metadata.uid ?? name;
    const known = this.#known.get(id);
    if (known?.endMs !== undefined) return known.endMs;
    const config = target.kubeadmConfigs.get(name);
    if (
      nodeName === undefined ||
      config === undefined ||
      config.metadata.annotations?.[CERTIFICATES_EXPIRY] !== undefined
    )
      return undefined;
    if (known !== undefined && clock.monotonic() < known.retryMs) return undefined;
    this.#known.set(id, { retryMs: Infinity });
    readCertificateExpiry(client, nodeName, apiPort(config), clock).then(
      (endMs) => {
        this.#known.set(id, { endMs, retryMs: Infinity });
        changed();
      },
      (error: unknown) => {
        this.#known.set(id, { retryMs: clock.monotonic() + RETRY_MS });
        log.debug("cannot read the end of kube-apiserver's certificate", { machine: name, node: nodeName, error });
      },
    );
    return undefined;
  }

  /** Forgets Machines that are not there any more. */
  keep(machines: readonly Machine[]): void {
    const ids = new Set(machines.map(({ metadata }) => metadata.uid ?? metadata.name));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }
}
