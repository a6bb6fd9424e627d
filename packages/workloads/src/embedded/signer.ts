import type { Clock } from "@capstan/apimachinery";
import { type ConfigMap, type Secret, secretText } from "@capstan/capi";
import { signatureKey, signClusterInfo } from "@capstan/controlplane";
import type { EmbeddedCluster } from "./embedded-clusters.ts";

type InternalApi = EmbeddedCluster["server"]["internal"];

const SECRETS = { group: "", plural: "secrets" };
const CONFIG_MAPS = { group: "", plural: "configmaps" };
const NAMESPACE = "kube-public";
const NAME = "cluster-info";
const TOKEN_TYPE = "bootstrap.kubernetes.io/token";
const SIGNATURE = /^jws-kubeconfig-/;
/** Tokens come in bursts and the ConfigMap grows with each, so writes are batched: the larger it is, the less often. */
const GATHER_MS = 20;
const GATHER_MS_PER_TOKEN = 0.4;

/** Existing signatures: signing hundreds of tokens again for each new one would be quadratic. */
interface Signed {
  kubeconfig: string;
  readonly signatures: Map<string, { key: string; signature: string }>;
}

/** Keeps the signatures of cluster-info in sync with the bootstrap tokens, like kube-controller-manager's bootstrapsigner. */
export function startEmbeddedSigner(api: InternalApi, clock: Clock): () => void {
  let cancel: (() => void) | undefined;
  let busy: Promise<unknown> = Promise.resolve();
  const signed: Signed = { kubeconfig: "", signatures: new Map() };
  const soon = (): void => {
    cancel ??= clock.after(GATHER_MS + signed.signatures.size * GATHER_MS_PER_TOKEN, () => {
      cancel = undefined;
      busy = busy.then(() => sign(api, signed)).catch(() => soon());
    });
  };
  const stops = [
    api.watch(SECRETS, ({ object, previous }) => {
      if (isToken(object) || isToken(previous)) soon();
    }),
    api.watch(CONFIG_MAPS, ({ name, namespace, object, previous }) => {
      if (name !== NAME || namespace !== NAMESPACE) return;
      if (kubeconfigOf(object) !== kubeconfigOf(previous)) soon();
    }),
  ];
  return () => {
    cancel?.();
    for (const stop of stops) stop();
  };
}

async function sign(api: InternalApi, signed: Signed): Promise<void> {
  const kubeconfig = kubeconfigOf(api.get(CONFIG_MAPS, NAMESPACE, NAME));
  if (kubeconfig === undefined) return;
  if (signed.kubeconfig !== kubeconfig) signed.signatures.clear();
  signed.kubeconfig = kubeconfig;
  const wanted = new Map<string, string>();
  for (const secret of api.list(SECRETS, "kube-system") as unknown as readonly Secret[]) {
    const id = secretText(secret, "token-id");
    const key = secretText(secret, "token-secret");
    if (!isToken(secret) || id === undefined || key === undefined) continue;
    if (secretText(secret, "usage-bootstrap-signing") !== "true") continue;
    const known = signed.signatures.get(id);
    const signature = known?.key === key ? known.signature : signClusterInfo(kubeconfig, id, key);
    signed.signatures.set(id, { key, signature });
    wanted.set(signatureKey(id), signature);
  }
  for (const id of signed.signatures.keys()) if (!wanted.has(signatureKey(id))) signed.signatures.delete(id);
  await api.update(CONFIG_MAPS, NAMESPACE, NAME, "kube-controller-manager", (object) => {
    const data = (object as ConfigMap).data ?? {};
    const old = Object.keys(data).filter((name) => SIGNATURE.test(name));
    const changed = [...wanted].filter(([name, signature]) => data[name] !== signature);
    const stale = old.filter((name) => !wanted.has(name));
    if (changed.length === 0 && stale.length === 0) return false;
    for (const name of stale) delete data[name];
    for (const [name, signature] of changed) data[name] = signature;
    return undefined;
  });
}

function isToken(object: unknown): boolean {
  return (object as Secret | undefined)?.type === TOKEN_TYPE;
}

function kubeconfigOf(object: unknown): string | undefined {
  return (object as ConfigMap | undefined)?.data?.["kubeconfig"];
}
