import { createHash } from "node:crypto";
import { deepEqual, isReason, type OwnerReference, stableStringify } from "@capstan/apimachinery";
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
/** How often a write is tried that others come before. */
const ATTEMPTS = 3;

/** Credentials of a management controller with their Secret, or why they cannot be used. */
export type CredentialsFound =
  | { readonly type: "good"; readonly credentials: BmcCredentials; readonly secret: Secret }
  | { readonly type: "bad"; readonly message: string };

/** Reads and watches the Secrets of management controllers; labels them and adds their hosts as owners. */
export class BmcSecrets implements Source {
  readonly #options: CacheOptions;
  /** Writes under way onto Secrets, and who waits to be written as their owner. */
  readonly #lines = new Map<string, { owners: Map<string, OwnerReference>; last: Promise<Secret> }>();
  /** The revision at which a Secret was first seen to hold what it holds. */
  readonly #versions = new Map<string, { digest: string; version: string }>();
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
    const enqueueOwners = (secret: Secret): void => {
      for (const owner of hostOwners(secret)) enqueue({ namespace: secret.metadata.namespace ?? "", name: owner.name });
    };
    const informer = cache.informer(Secret);
    informer.addHandler({
      add: (secret, initial) => (initial ? undefined : enqueueOwners(secret)),
      // Hosts that share a Secret write onto it; only what it holds is news to the others.
      update: (secret, old) => (deepEqual(secret.data, old.data) ? undefined : enqueueOwners(secret)),
      delete: (secret) => {
        this.#versions.delete(secret.metadata.uid ?? "");
        enqueueOwners(secret);
      },
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
    // Those made with `echo admin | base64` end in a line break that nobody meant.
    const username = secretText(secret, "username")?.trim() || undefined;
    const password = secretText(secret, "password")?.trim() || undefined;
    if (username === undefined || password === undefined)
      return bad(
        `The Secret ${name} has no ${username === undefined ? "username" : "password"}: both must be set and not empty`,
      );
    const ca = secretText(secret, "ca.crt");
    return { type: "good", secret, credentials: { username, password, ca } };
  }

  /**
   * Labels a Secret and makes the host its owner; gives back how it is then. Hosts that share a Secret come at the same time, and
   * each write is based on the one before: those that wait for a write go together in the next.
   */
  async own(client: Client, host: BareMetalHost, secret: Secret, signal: AbortSignal): Promise<Secret> {
    if (secret.metadata.deletionTimestamp !== undefined || isOwned(secret, ownerOf(host))) return secret;
    const owner = ownerOf(host);
    const key = `${secret.metadata.namespace}/${secret.metadata.name}`;
    const line = this.#lines.get(key) ?? { owners: new Map<string, OwnerReference>(), last: Promise.resolve(secret) };
    this.#lines.set(key, line);
    line.owners.set(owner.uid, owner);
    const before = line.last;
    const write = async (): Promise<Secret> => {
      const known = await before.catch(() => secret);
      if (isOwned(known, owner)) return known;
      const owners = [...new Map(line.owners).set(owner.uid, owner).values()];
      line.owners.clear();
      return await addOwners(this.#cache?.client ?? client, known, owners, signal);
    };
    const own = write();
    line.last = own;
    try {
      return await own;
    } finally {
      if (line.last === own) this.#lines.delete(key);
    }
  }

  /** Changes when the credentials do; others may write their names onto the Secret without that being news. */
  versionOf({ metadata, data }: Secret): string {
    const { uid = "", resourceVersion = "" } = metadata;
    const digest = createHash("sha256")
      .update(stableStringify(data ?? {}))
      .digest("base64");
    const known = this.#versions.get(uid);
    if (known?.digest === digest) return known.version;
    this.#versions.set(uid, { digest, version: resourceVersion });
    return resourceVersion;
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

function ownerOf({ apiVersion, kind, metadata: { name = "", uid = "" } }: BareMetalHost): OwnerReference {
  return { apiVersion, kind, name, uid };
}

function isOwned({ metadata }: Secret, owner: OwnerReference): boolean {
  const { labels, finalizers = [], ownerReferences = [] } = metadata;
  const isThere = ownerReferences.some(({ uid }) => uid === owner.uid);
  return isThere && labels?.[SECRET_LABEL] === SECRET_LABEL_VALUE && finalizers.includes(SECRET_FINALIZER);
}

async function addOwners(
  client: Client,
  known: Secret,
  owners: readonly OwnerReference[],
  signal: AbortSignal,
): Promise<Secret> {
  let secret = known;
  for (let attempt = 1; ; attempt++) {
    const { finalizers = [], ownerReferences = [], resourceVersion } = secret.metadata;
    const missing = owners.filter((owner) => !ownerReferences.some(({ uid }) => uid === owner.uid));
    const metadata = {
      resourceVersion,
      labels: { [SECRET_LABEL]: SECRET_LABEL_VALUE },
      finalizers: finalizers.includes(SECRET_FINALIZER) ? finalizers : [...finalizers, SECRET_FINALIZER],
      ownerReferences: [...ownerReferences, ...missing],
    };
    try {
      return await client.patch(secret, { metadata }, {}, signal);
    } catch (error) {
      if (attempt >= ATTEMPTS || !isReason(error, "Conflict")) throw error;
    }
    const { namespace, name = "" } = secret.metadata;
    const live = await client.get(Secret, { namespace, name }, signal);
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return live ?? secret;
    secret = live;
  }
}

function hostOwners(secret: Secret): OwnerReference[] {
  return (secret.metadata.ownerReferences ?? []).filter(({ kind }) => kind === "BareMetalHost");
}

function bad(message: string): CredentialsFound {
  return { type: "bad", message };
}
