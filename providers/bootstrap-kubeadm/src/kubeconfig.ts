import {
  CLUSTER_NAME_LABEL,
  CLUSTER_SECRET_TYPE,
  type Cluster,
  clusterSecretName,
  type KubeadmConfig,
  Secret,
  secretText,
} from "@capstan/capi";
import { buildKubeconfig, issueCertificate, PkiError } from "@capstan/pki";
import { createIfAbsent, type ReconcileContext } from "@capstan/runtime";
import { endpointText } from "./discovery.ts";

const YEAR_MS = 365 * 24 * 3600_000;

/**
 * Creates the admin kubeconfig Secret of a Cluster without controlPlaneRef, where no control plane provider creates it. An existing Secret
 * is not changed.
 */
export async function ensureKubeconfig(
  config: KubeadmConfig,
  cluster: Cluster,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name: clusterName = "" } = cluster.metadata;
  const endpoint = endpointText(cluster);
  if (cluster.spec?.controlPlaneRef !== undefined || endpoint === undefined) return;
  const key = { namespace, name: clusterSecretName(clusterName, "kubeconfig") };
  if ((context.cache.get(Secret, key) ?? (await context.client.get(Secret, key))) !== undefined) return;
  const ca = context.cache.get(Secret, { namespace, name: clusterSecretName(clusterName, "ca") });
  const [certPem, keyPem] = [secretText(ca, "tls.crt"), secretText(ca, "tls.key")];
  if (certPem === undefined || keyPem === undefined) return;
  try {
    const value = await adminKubeconfig(clusterName, `https://${endpoint}`, { certPem, keyPem }, context);
    await createIfAbsent(context.client, kubeconfigSecret(cluster, key.name, value));
  } catch (error) {
    if (!(error instanceof PkiError)) throw error;
    const note = `Secret ${clusterName}-ca holds no usable CA: ${error.message}`;
    context.recorder.event(config, "Warning", "NoKubeconfig", "CreateKubeconfig", note);
  }
}

async function adminKubeconfig(
  clusterName: string,
  server: string,
  ca: { certPem: string; keyPem: string },
  context: ReconcileContext,
): Promise<string> {
  const leaf = await issueCertificate(ca, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    nowMs: context.clock.now(),
    validMs: YEAR_MS,
    random: context.random,
  });
  return buildKubeconfig({
    server,
    caPem: ca.certPem,
    clusterName,
    userName: `${clusterName}-admin`,
    contextName: `${clusterName}-admin@${clusterName}`,
    clientCertPem: leaf.certPem,
    clientKeyPem: leaf.keyPem,
  });
}

function kubeconfigSecret(cluster: Cluster, name: string, value: string): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace: cluster.metadata.namespace,
      labels: { [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "" },
      ownerReferences: [
        {
          apiVersion: cluster.apiVersion,
          kind: cluster.kind,
          name: cluster.metadata.name ?? "",
          uid: cluster.metadata.uid ?? "",
        },
      ],
    },
    type: CLUSTER_SECRET_TYPE,
    data: { value: Buffer.from(value).toString("base64") },
  };
}
