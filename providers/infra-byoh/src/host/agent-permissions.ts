import type { KubeObject } from "@capstan/apimachinery";
import { agentUser, type ByoHost, hostRights } from "@capstan/host-agent";
import { type Client, kindRef } from "@capstan/runtime";

const RoleBinding = kindRef<KubeObject>({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
});

/** Manages the RBAC objects that let each agent access its own ByoHost and the Secrets of its machine, and nothing else. */
export class AgentPermissions {
  readonly #client: () => Client;
  /** The last agent of each host and the Secrets it may read, by UID of the host. */
  readonly #given = new Map<string, string>();
  /** Hosts for which no earlier agent has permissions any more. */
  readonly #cleared = new Set<string>();

  constructor(client: () => Client) {
    this.#client = client;
  }

  /** Lets the agent read the Secrets of its machine, or nothing. */
  async ensure(host: ByoHost, signal: AbortSignal): Promise<void> {
    const secrets = [host.spec?.bootstrapSecret, host.spec?.installationSecret].flatMap((secret) => secret?.name ?? []);
    const { uid = "" } = host.metadata;
    // Written once for each agent and set of Secrets, not on every pass; a new manager writes them again.
    const wanted = [agentUser(host), ...secrets].join();
    if (this.#given.get(uid) === wanted) return;
    for (const object of hostRights(host, secrets)) await this.#client().apply(object, {}, signal);
    this.#given.set(uid, wanted);
  }

  /** Writes them even if they should be there: an agent that cannot see its host asks early. */
  async renew(host: ByoHost, signal: AbortSignal): Promise<void> {
    this.#given.delete(host.metadata.uid ?? "");
    // Nothing can be created in a namespace that is being deleted, and the objects of a deleted host are deleted with it.
    if (host.metadata.deletionTimestamp === undefined) await this.ensure(host, signal);
  }

  /** Deletes the binding of an earlier host of this name, so that its agent cannot act for a host that has not enrolled. */
  async dropForeign(host: ByoHost, signal: AbortSignal): Promise<void> {
    const { uid = "", namespace } = host.metadata;
    if (agentUser(host) !== undefined || this.#given.has(uid) || this.#cleared.has(uid)) return;
    const name = hostRights(host, []).find(({ kind }) => kind === RoleBinding.kind)?.metadata.name ?? "";
    const found = await this.#client().get(RoleBinding, { namespace, name }, signal);
    const { resourceVersion, ownerReferences = [] } = found?.metadata ?? {};
    if (found !== undefined && !ownerReferences.some((owner) => owner.uid === uid))
      await this.#client().delete(
        { kind: RoleBinding, namespace, name },
        resourceVersion === undefined ? {} : { preconditions: { resourceVersion } },
        signal,
      );
    this.#cleared.add(uid);
  }

  forget(uid: string): void {
    this.#given.delete(uid);
    this.#cleared.delete(uid);
  }
}
