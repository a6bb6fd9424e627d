import { createHash } from "node:crypto";
import type { KubeObject } from "@capstan/apimachinery";
import type { EtcdMember } from "@capstan/etcd";
import {
  type HostCluster,
  OWNER_ANNOTATION,
  Pod,
  type ProgramState,
  podRestarts,
  podTrouble,
} from "@capstan/workloads";
import { ownMetadata, type PodNames, selectorLabels, trialPodName } from "../pods/names.ts";
import { ETCD_PORTS, etcdMember, etcdTemplate, type PodsInput, TEMPLATE_ANNOTATION } from "../pods/objects.ts";

const COMPONENT = "etcd-trial";

/** Runs an etcd without data in a pod of its own, which no Service selects, and returns its state. */
export async function tryOut(host: HostCluster, input: PodsInput): Promise<ProgramState> {
  const { names } = input;
  const key = { namespace: names.namespace, name: trialPodName(names) };
  const state = (phase: ProgramState["phase"], message: string, restarts = 0): ProgramState => ({
    id: { owner: names.owner, name: key.name },
    phase,
    restarts,
    since: 0,
    message,
  });
  const desired = trialPod(input);
  const pod = host.get(Pod, key);
  if (pod === undefined) {
    await host.ensure(Pod, desired as Pod);
    return state("Starting", "its pod is being created");
  }
  if (pod.metadata.deletionTimestamp !== undefined) return state("Starting", "an earlier pod is being deleted");
  const same = pod.metadata.annotations?.[TEMPLATE_ANNOTATION] === desired.metadata.annotations?.[TEMPLATE_ANNOTATION];
  const trouble = podTrouble(pod, new Map());
  // A pod lost with its node says nothing about etcd.
  if (!same || pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") {
    await endTrial(host, names);
    return state("Starting", trouble ?? "an earlier pod is being deleted");
  }
  return trouble === undefined ? state("Ready", "") : state("Starting", trouble, podRestarts(pod));
}

/** Deletes the trial's pod if it exists. */
export async function endTrial(host: HostCluster, names: PodNames): Promise<void> {
  const pod = host.get(Pod, { namespace: names.namespace, name: trialPodName(names) });
  if (pod !== undefined && pod.metadata.deletionTimestamp === undefined)
    await host.client.delete(pod, { gracePeriodSeconds: 1 });
}

/** A single-member cluster that no client knows; it talks only to itself. */
function trialMember(names: PodNames): EtcdMember {
  const member: EtcdMember = {
    ...etcdMember(names, 0),
    clientUrl: `https://127.0.0.1:${ETCD_PORTS.client}`,
    peerUrl: `https://127.0.0.1:${ETCD_PORTS.peer}`,
  };
  return { ...member, initialCluster: `${member.name}=${member.peerUrl}` };
}

function trialPod(input: PodsInput): KubeObject {
  const { names } = input;
  const template = etcdTemplate(input, {
    member: trialMember(names),
    labels: { "app.kubernetes.io/component": COMPONENT },
    volumes: [{ name: "data", emptyDir: {} }],
  }) as { metadata: KubeObject["metadata"]; spec: object };
  const digest = createHash("sha256").update(JSON.stringify(template)).digest("hex").slice(0, 16);
  const metadata = ownMetadata(names, trialPodName(names));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...template.metadata.labels },
      annotations: {
        ...template.metadata.annotations,
        [OWNER_ANNOTATION]: names.owner,
        [TEMPLATE_ANNOTATION]: digest,
      },
    },
    spec: {
      ...template.spec,
      terminationGracePeriodSeconds: 1,
      topologySpreadConstraints: [],
      // Runs on the node of a member, which needs the image later.
      affinity: { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [besideMembers(names)] } },
    },
  };
  return pod;
}

function besideMembers(names: PodNames): object {
  const labelSelector = { matchLabels: selectorLabels(names, "etcd") };
  return { weight: 100, podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector } };
}
