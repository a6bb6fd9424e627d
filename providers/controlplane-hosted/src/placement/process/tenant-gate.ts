import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

const NAMESPACE = /^[a-z0-9-]+$/;

/**
 * Keeps a manager that cannot isolate processes from hosting control planes of two tenants (namespaces). Control planes that already have
 * data here, from an earlier version or under `--trust-tenants`, keep running.
 */
export class TenantGate {
  readonly #root: string;
  /** Why processes cannot be isolated. */
  readonly #cause: string;
  /** Admitted control planes, which may have no folder yet. */
  readonly #admitted = new Set<string>();

  constructor(root: string, cause: string) {
    this.#root = root;
    this.#cause = cause;
  }

  /** Admits a control plane, or returns which other tenant is hosted and what to do. */
  async admit(owner: string): Promise<string | undefined> {
    if (this.#admitted.has(owner)) return undefined;
    const here = await this.#ownersOnDisk();
    // No await between the check and the decision, so that only one of two concurrent control planes is admitted.
    const namespace = namespaceOf(owner);
    const other = [...here, ...this.#admitted].find((each) => namespaceOf(each) !== namespace);
    if (other !== undefined && !here.includes(owner))
      return `${this.#cause}, so its processes cannot be isolated from those of ${other} in another namespace; run the manager as root on Linux, use placement Pods or Embedded, or allow it with \`capstan up --trust-tenants\` if the namespaces trust each other`;
    this.#admitted.add(owner);
    return undefined;
  }

  forget(owner: string): void {
    this.#admitted.delete(owner);
  }

  /** Folders of control planes. Those of shared etcds, whose names no namespace can have, belong to no tenant. */
  async #ownersOnDisk(): Promise<string[]> {
    const owners: string[] = [];
    for (const namespace of await readdir(this.#root).catch(() => []))
      if (NAMESPACE.test(namespace))
        for (const name of await readdir(join(this.#root, namespace)).catch(() => []))
          if (existsSync(join(this.#root, namespace, name, "plane.json"))) owners.push(`${namespace}/${name}`);
    return owners;
  }
}

function namespaceOf(owner: string): string {
  return owner.slice(0, owner.indexOf("/"));
}
