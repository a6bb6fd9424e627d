import type { Backup, BackupStore } from "@capstan/backup";
import { publicKeyPin } from "@capstan/pki";
import type { ReconcileContext } from "@capstan/runtime";
import { authoritiesOf, backupOwner, type MachinePlane, type MachinePlaneDescription } from "./machine-backups.ts";

/** How many of the newest backups are compared: a store may list any number, and each takes a request. */
const COMPARED = 50;
/** Beyond that all are read again. */
const REMEMBERED = 10_000;

/**
 * Finds backups that another cluster has made: a Cluster may be deleted and created again under its name, and its store still has the old
 * ones. Nodes and clients of this cluster would trust nothing that is signed with the authorities in them.
 */
export class BackupOrigins {
  /** The CA of each backup, which never changes; undefined if its description names none. */
  readonly #known = new Map<string, string | undefined>();

  /** Why backups are not those of a cluster, by name; of the newest ones, and of one that is named. */
  async foreign(
    plane: MachinePlane,
    store: BackupStore,
    backups: readonly Backup[],
    context: ReconcileContext,
    named?: string,
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const compared = backups.filter(({ name }, i) => i >= backups.length - COMPARED || name === named);
    if (compared.length === 0) return found;
    const { cluster, also } = await authoritiesOf(plane, context);
    const trusted = [cluster.certPem, ...pemBlocks(also?.cluster ?? "")].map(publicKeyPin);
    for (const { name } of compared) {
      const pin = await this.#pinOf(store, backupOwner(plane), name);
      if (pin === undefined) found.set(name, "its control-plane.json names no CA");
      else if (!trusted.includes(pin))
        found.set(name, `its CA is ${pin}, and that of the Cluster is ${trusted[0] ?? ""}`);
    }
    return found;
  }

  async #pinOf(store: BackupStore, owner: string, name: string): Promise<string | undefined> {
    const key = `${store.location} ${owner} ${name}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const pin = pinIn(await store.description(owner, name));
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, pin);
    return pin;
  }
}

/** Descriptions of earlier versions have no fingerprint, and the CA itself. */
function pinIn(description: string): string | undefined {
  try {
    const { caFingerprint, authorities } = JSON.parse(description) as Partial<MachinePlaneDescription>;
    if (typeof caFingerprint === "string") return caFingerprint;
    return authorities === undefined ? undefined : publicKeyPin(authorities.cluster.certPem);
  } catch {
    return undefined;
  }
}

function pemBlocks(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}
