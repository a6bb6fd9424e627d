import { isReason, type OwnerReference } from "@capstan/apimachinery";
import { Secret, secretText } from "@capstan/capi";
import type { CacheOptions } from "@capstan/runtime";
import { Cache, type Client, type Request, type Source } from "@capstan/runtime";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { BmcCredentials } from "../provisioner/provisioner.ts";

/** Marks the Secrets that upstream and we watch. */
const SECRET_LABEL = "environment.metal3.io";
const SECRET_LABEL_VALUE = "baremetal";
/** Keeps a Secret until its host needs it no more, whatever order things are deleted in. */
const SECRET_FINALIZER = "baremetalhost.metal3.io/secret";

/** A Secret with what it holds, or why it cannot be used. */
export type CredentialsFound =
  | { readonly type: "good"; readonly credentials: BmcCredentials; readonly secret: Secret }
  | { readonly type: "bad"; readonly message: string };

/** The Secrets of management controllers: labelled, owned by their hosts, and watched. */
export class BmcSecrets implements Source {
  readonly #options: CacheOptions;
  #client: Client | undefined;
  #cache: Cache | undefined;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** Says whose Secrets; before the controller starts. */
  bind(client: Client): void {
    this.#client = client;
  }

  /** Wakes a host whose Secret changed. */
  start(enqueue: (request: Request) => void, signal: AbortSignal): void {
    const client = this.#client;
    if (client === undefined) throw new Error("BmcSecrets is started before bind()");
    const cache = new Cache(client, this.#options);
    cache.restrict(Secret, { labelSelector: `${SECRET_LABEL}=${SECRET_LABEL_VALUE}` });
    const tell = (secret: Secret): void => {
      for (const owner of hostOwners(secret)) enqueue({ namespace: secret.metadata.namespace ?? "", name: owner.name });
    };
    const informer = cache.informer(Secret);
    informer.addHandler({
      add: (secret, initial) => (initial ? undefined : tell(secret)),
      update: (secret, old) =>
        secret.metadata.resourceVersion === old.metadata.resourceVersion ? undefined : tell(secret),
      delete: tell,
    });
    cache.start();
    this.#cache = cache;
    signal.addEventListener("abort", () => void cache.stop(), { once: true });
  }

  /** Finds and checks the credentials of a host. */
  async find(client: Client, host: BareMetalHost, signal: AbortSignal): Promise<CredentialsFound> {
    const name = host.spec.bmc?.credentialsName ?? "";
    if (name === "") return bad("spec.bmc.credentialsName is empty: name a Secret with username and password");
    const key = { namespace: host.metadata.namespace, name };
    const cached = this.#cache?.synced(Secret) === true ? this.#cache.get(Secret, key) : undefined;
    const secret = cached ?? (await client.get(Secret, key, signal));
    if (secret === undefined)
      return bad(`The Secret ${name} of spec.bmc.credentialsName does not exist: create it with username and password`);
    const username = secretText(secret, "username");
    const password = secretText(secret, "password");
    if (username === undefined || password === undefined)
      return bad(
        `The Secret ${name} has no ${username === undefined ? "username" : "password"}: both must be there and not empty`,
      );
    const ca = secretText(secret, "ca.crt");
    return { type: "good", secret, credentials: { username, password, ...(ca === undefined ? {} : { ca }) } };
  }

  /** Labels a Secret and makes the host its owner; gives back how it is then. */
  async own(client: Client, host: BareMetalHost, secret: Secret, signal: AbortSignal): Promise<Secret> {
    const { labels, finalizers = [], ownerReferences = [], resourceVersion, deletionTimestamp } = secret.metadata;
    const owned = ownerReferences.some(({ uid }) => uid === host.metadata.uid);
    if (deletionTimestamp !== undefined) return secret;
    if (owned && labels?.[SECRET_LABEL] === SECRET_LABEL_VALUE && finalizers.includes(SECRET_FINALIZER)) return secret;
    const owner: OwnerReference = {
      apiVersion: host.apiVersion,
      kind: host.kind,
      name: host.metadata.name ?? "",
      uid: host.metadata.uid ?? "",
    };
    const metadata = {
      resourceVersion,
      labels: { [SECRET_LABEL]: SECRET_LABEL_VALUE },
      finalizers: finalizers.includes(SECRET_FINALIZER) ? finalizers : [...finalizers, SECRET_FINALIZER],
      ownerReferences: owned ? ownerReferences : [...ownerReferences, owner],
    };
    return await (this.#cache?.client ?? client).patch(secret, { metadata }, {}, signal);
  }

  /** Lets a host's Secrets go; one that another host uses as well is kept. */
  async disown(client: Client, host: BareMetalHost, signal: AbortSignal): Promise<void> {
    const names = new Set([host.spec.bmc?.credentialsName, host.status?.goodCredentials?.credentials?.name]);
    for (const name of names) {
      if (name === undefined || name === "") continue;
      const secret = await client.get(Secret, { namespace: host.metadata.namespace, name }, signal);
      if (secret === undefined) continue;
      const { finalizers = [], ownerReferences = [], resourceVersion } = secret.metadata;
      const owners = ownerReferences.filter(({ uid }) => uid !== host.metadata.uid);
      const shared = owners.some(({ kind }) => kind === host.kind);
      const left = shared ? finalizers : finalizers.filter((finalizer) => finalizer !== SECRET_FINALIZER);
      if (owners.length === ownerReferences.length && left.length === finalizers.length) continue;
      try {
        await (this.#cache?.client ?? client).patch(
          secret,
          { metadata: { resourceVersion, finalizers: left, ownerReferences: owners } },
          {},
          signal,
        );
      } catch (error) {
        if (!isReason(error, "NotFound")) throw error;
      }
    }
  }
}

function hostOwners(secret: Secret): OwnerReference[] {
  return (secret.metadata.ownerReferences ?? []).filter(({ kind }) => kind === "BareMetalHost");
}

function bad(message: string): CredentialsFound {
  return { type: "bad", message };
}
