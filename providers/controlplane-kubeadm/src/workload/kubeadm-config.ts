import { type Clock, isObject, toGoYaml } from "@capstan/apimachinery";
import { readForeignYaml } from "@capstan/apimachinery/foreign";
import { ConfigMap, type KubeadmControlPlane } from "@capstan/capi";
import { clusterConfigurationOf, kubeadmApi } from "@capstan/controlplane";
import type { Client } from "@capstan/runtime";
import { desiredConfig, LOCAL_MODE } from "../desired-config.ts";

/** Name of the ConfigMap from which kubeadm join reads the configuration of the cluster. */
export const KUBEADM_CONFIG = { namespace: "kube-system", name: "kubeadm-config" };
const DATA_KEY = "ClusterConfiguration";
/** etcd accepts 1.5 MiB per object; kubeadm writes some kilobytes. */
const MAX_BYTES = 512 * 1024;

type Document = Record<string, unknown>;

/** The ConfigMap cannot be used as it is; its message says how to repair it. */
export class KubeadmConfigError extends Error {}

/** What of ClusterConfiguration follows the control plane; everything else stays as kubeadm or a person wrote it. */
const OWNED = [
  "etcd",
  "apiServer",
  "controllerManager",
  "scheduler",
  "featureGates",
  "certificateValidityPeriod",
  "encryptionAlgorithm",
] as const;

/** Brings the configuration of joining Machines up to date; gives back the fields that differed. */
export async function ensureKubeadmConfig(
  client: Client,
  controlPlane: KubeadmControlPlane,
  clock: Clock,
  signal: AbortSignal,
  dns: "keep" | "follow" = "keep",
): Promise<string[]> {
  const found = await client.get(ConfigMap, KUBEADM_CONFIG, signal);
  if (found === undefined)
    throw new KubeadmConfigError(
      "ConfigMap kube-system/kubeadm-config does not exist: run kubeadm init phase upload-config all on a control plane Machine",
    );
  const current = await readConfiguration(found, clock);
  const desired = desiredDocument(current, controlPlane, dns);
  const changed = [...new Set([...Object.keys(current), ...Object.keys(desired)])].filter(
    (field) => !isSame(current[field], desired[field]),
  );
  if (changed.length === 0) return [];
  // Its resourceVersion guards against a change in between.
  await client.update({ ...found, data: { ...found.data, [DATA_KEY]: toGoYaml(desired) } }, {}, signal);
  return changed.toSorted();
}

async function readConfiguration({ data }: ConfigMap, clock: Clock): Promise<Document> {
  const what = "ConfigMap kube-system/kubeadm-config";
  const text = data?.[DATA_KEY];
  const cure = "restore it with kubeadm init phase upload-config kubeadm on a control plane Machine";
  if (text === undefined) throw new KubeadmConfigError(`${what} has no ${DATA_KEY}: ${cure}`);
  let document: unknown;
  try {
    document = await readForeignYaml(text, { clock, maxBytes: MAX_BYTES });
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new KubeadmConfigError(`${what}: ${DATA_KEY} is not valid YAML: ${why.slice(0, 200)}; ${cure}`, {
      cause: error,
    });
  }
  if (!isObject(document) || document["kind"] !== "ClusterConfiguration")
    throw new KubeadmConfigError(`${what}: ${DATA_KEY} is no ClusterConfiguration; ${cure}`);
  return document;
}

/** The document with the fields that follow the control plane. */
export function desiredDocument(
  current: Document,
  controlPlane: KubeadmControlPlane,
  dns: "keep" | "follow" = "keep",
): Document {
  const { version, kubeadmConfigSpec } = controlPlane.spec;
  const found = kubeadmApi(version);
  if ("problem" in found) throw new KubeadmConfigError(found.problem);
  const { api } = found;
  const desired: Document = { ...current, apiVersion: `kubeadm.k8s.io/${api}`, kubernetesVersion: version };
  const config = desiredConfig(controlPlane, "init").clusterConfiguration;
  // Fields of an older API would be refused; kubeadm's own defaults take their place.
  const given = !isNothing(kubeadmConfigSpec?.clusterConfiguration) || current["apiVersion"] !== desired["apiVersion"];
  if (!given) return withLocalMode(desired, config?.featureGates?.[LOCAL_MODE]);
  const rendered = clusterConfigurationOf(config ?? {}, api, {
    clusterName: "",
    kubernetesVersion: version,
    controlPlaneEndpoint: undefined,
    dnsDomain: undefined,
    serviceSubnet: undefined,
    podSubnet: undefined,
    controlPlaneComponentHealthCheckSeconds: undefined,
  });
  for (const field of OWNED) assign(desired, field, rendered[field]);
  // kubeadm wrote it in the older API, where the control plane has no field for it.
  const timeout = api === "v1beta3" ? (current["apiServer"] as Document | null)?.["timeoutForControlPlane"] : undefined;
  if (timeout !== undefined)
    desired["apiServer"] = { ...(desired["apiServer"] as object), timeoutForControlPlane: timeout };
  if (config?.imageRepository !== undefined) desired["imageRepository"] = config.imageRepository;
  if (dns === "follow") assign(desired, "dns", rendered["dns"]);
  return desired;
}

/** Only some versions of kubeadm know the gate, and others refuse it. */
function withLocalMode(document: Document, wanted: boolean | undefined): Document {
  const gates = { ...(document["featureGates"] as Record<string, boolean> | null | undefined) };
  if (wanted === undefined) delete gates[LOCAL_MODE];
  else gates[LOCAL_MODE] ??= wanted;
  const { featureGates: _, ...rest } = document;
  return Object.keys(gates).length === 0 ? rest : { ...rest, featureGates: gates };
}

function assign(document: Document, field: string, value: unknown): void {
  if (value === undefined) delete document[field];
  else document[field] = value;
}

/** Whether a part of the spec configures nothing, so that what is there stays. */
function isNothing(value: unknown): boolean {
  if (!isObject(value)) return value === undefined || value === null;
  return Object.values(value).every(isNothing);
}

/** A field that is absent, null or empty means the same to kubeadm. */
function isSame(a: unknown, b: unknown): boolean {
  const canonical = (value: unknown): string =>
    JSON.stringify(value, (_key, inner: unknown) => {
      if (!isObject(inner)) return inner;
      return Object.fromEntries(Object.entries(inner).toSorted(([x], [y]) => (x < y ? -1 : 1)));
    }) ?? "{}";
  const text = (value: unknown): string => (value === null ? "{}" : canonical(value));
  return text(a) === text(b);
}
