import type { Clock, Random } from "@capstan/apimachinery";
import { type ClusterKey, ConfigMap, Secret, secretText, type WorkloadClusters } from "@capstan/capi";
import { signatureKey, signClusterInfo } from "@capstan/controlplane";
import { Cache, type Client, type Logger } from "@capstan/runtime";

const TOKEN_TYPE = "bootstrap.kubernetes.io/token";
const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" };

/** Dependencies of the TokenSigner. */
export interface TokenSignerDeps {
  workload: WorkloadClusters;
  /** Reports whether a cluster's control plane is a hosted one that needs signing. */
  isHosted(cluster: ClusterKey): boolean;
  clock: Clock;
  random: Random;
  log: Logger;
}

/**
 * Signs cluster-info as soon as a bootstrap token appears in a hosted cluster. kube-controller-manager does the same a moment later, but
 * `kubeadm join` retries only every five seconds if the signature is missing.
 */
export class TokenSigner {
  readonly #deps: TokenSignerDeps;
  readonly #watched = new Map<string, { client: Client; tokens: Cache }>();

  constructor(deps: TokenSignerDeps) {
    this.#deps = deps;
  }

  /** Follows connections until the signal is aborted. */
  start(signal: AbortSignal): void {
    const unsubscribe = this.#deps.workload.subscribe((cluster, node) => {
      // Changes of single Nodes are not changes of the connection.
      if (node === undefined) this.#follow(cluster);
    });
    signal.addEventListener(
      "abort",
      () => {
        unsubscribe();
        for (const key of this.#watched.keys()) this.#forget(key);
      },
      { once: true },
    );
  }

  #follow(cluster: ClusterKey): void {
    const key = `${cluster.namespace}/${cluster.name}`;
    const connection = this.#deps.workload.get(cluster);
    const known = this.#watched.get(key);
    const client = connection.state === "connected" ? connection.client : undefined;
    if (known?.client === client) return;
    this.#forget(key);
    if (client === undefined || !this.#deps.isHosted(cluster)) return;
    const { clock, random, log } = this.#deps;
    const tokens = new Cache(client, { clock, random, log });
    tokens.restrict(Secret, { namespace: "kube-system", fieldSelector: `type=${TOKEN_TYPE}` });
    const sign = (secret: Secret): void => {
      signToken(client, secret, clock.now()).catch((error: unknown) =>
        log.info("failed to sign cluster-info; kube-controller-manager will sign it", { cluster: key, error }),
      );
    };
    tokens.informer(Secret).addHandler({ add: sign, update: sign, delete: () => undefined });
    tokens.start();
    this.#watched.set(key, { client, tokens });
  }

  #forget(key: string): void {
    const known = this.#watched.get(key);
    this.#watched.delete(key);
    void known?.tokens.stop();
  }
}

/** Adds a token's signature to cluster-info unless it is already there or the token has expired. */
export async function signToken(client: Client, secret: Secret, nowMs: number): Promise<void> {
  const id = secretText(secret, "token-id");
  const tokenSecret = secretText(secret, "token-secret");
  const forSigning = secretText(secret, "usage-bootstrap-signing") === "true";
  if (id === undefined || tokenSecret === undefined || !forSigning || secret.type !== TOKEN_TYPE) return;
  const expiration = secretText(secret, "expiration");
  // An unparsable time counts as expired, as in kube-controller-manager.
  if (expiration !== undefined && !(Date.parse(expiration) > nowMs)) return;
  const info = await client.get(ConfigMap, CLUSTER_INFO);
  const kubeconfig = info?.data?.["kubeconfig"];
  if (info === undefined || kubeconfig === undefined) return;
  const signature = signClusterInfo(kubeconfig, id, tokenSecret);
  if (info.data?.[signatureKey(id)] === signature) return;
  await client.patch(info, { data: { [signatureKey(id)]: signature } });
}
