import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  CONTROL_PLANE_NAME_LABEL,
  type ContractObject,
  KubeadmConfig,
  type KubeadmControlPlane,
  labelValue,
  type Machine,
  type MachinePart,
  type MachinePlan,
  type MachineSettings,
  type TemplatePart,
} from "@capstan/capi";
import type { Cache } from "@capstan/runtime";
import { CLEANUP_HOOK, REMEDIATION_FOR, STARTS_CLUSTER } from "./annotations.ts";
import { desiredConfig, type JoinMode } from "./desired-config.ts";
import { COMPONENT_CONDITIONS } from "./plan/preflight.ts";

/** Field managers of Machines and of the metadata of their objects; the same as upstream's, so that its objects can be adopted. */
const FIELD_MANAGERS = { machine: "capi-kubeadmcontrolplane", metadata: "capi-kubeadmcontrolplane-metadata" };

/** What the Machines of a control plane are made from. */
export interface MachinePlanInput {
  readonly object: KubeadmControlPlane;
  readonly clusterName: string;
  readonly infrastructure: TemplatePart;
  /** How Machines without a KubeadmConfig become part of the control plane. */
  readonly mode: JoinMode;
  readonly cache: Cache;
}

/** Returns what a control plane wants its Machines to be. */
export function machinePlan({ object, clusterName, infrastructure, mode, cache }: MachinePlanInput): MachinePlan {
  const { metadata } = object.spec.machineTemplate;
  const fixed = {
    [CLUSTER_NAME_LABEL]: clusterName,
    [CONTROL_PLANE_LABEL]: "",
    [CONTROL_PLANE_NAME_LABEL]: labelValue(object.metadata.name ?? ""),
  };
  return {
    owner: object,
    clusterName,
    fieldManagers: FIELD_MANAGERS,
    labels: { ...metadata?.labels, ...fixed },
    fixedLabels: new Set(Object.keys(fixed)),
    annotations: metadata?.annotations ?? {},
    kept: keptAnnotations,
    settings: machineSettings(object),
    appliesFailureDomain: true,
    infrastructure,
    bootstrap: configPart(object, mode, cache),
  };
}

function keptAnnotations({ metadata }: Machine): Record<string, string> {
  const kept = Object.entries(metadata.annotations ?? {}).filter(([name]) => KEPT.has(name));
  return { [CLEANUP_HOOK]: "", ...Object.fromEntries(kept) };
}

const KEPT = new Set([REMEDIATION_FOR, STARTS_CLUSTER]);

function machineSettings({ spec }: KubeadmControlPlane): MachineSettings {
  const { deletion, taints, readinessGates = [] } = spec.machineTemplate.spec;
  return {
    version: spec.version,
    readinessGates: gatesOf(isEtcdManaged(spec), readinessGates),
    deletion,
    taints,
  } as MachineSettings;
}

type Gate = NonNullable<MachineSettings["readinessGates"]>[number];

/** The components' conditions are part of Ready, before the gates of the template. */
function gatesOf(etcdManaged: boolean, own: readonly Gate[]): Gate[] {
  const { nodeLabels, apiServer, controllerManager, scheduler, etcdPod, etcdMember } = COMPONENT_CONDITIONS;
  const types = [nodeLabels, apiServer, controllerManager, scheduler, ...(etcdManaged ? [etcdPod, etcdMember] : [])];
  return [
    ...types.map((conditionType) => ({ conditionType })),
    ...own.filter(({ conditionType }) => !types.includes(conditionType)),
  ];
}

/** Whether etcd runs on the control plane Machines, so that the control plane takes care of its members. */
export function isEtcdManaged({ kubeadmConfigSpec }: KubeadmControlPlane["spec"]): boolean {
  return kubeadmConfigSpec?.clusterConfiguration?.etcd?.external === undefined;
}

/** KubeadmConfigs have no template object: the control plane's spec holds what they are made from. */
function configPart(object: KubeadmControlPlane, mode: JoinMode, cache: Cache): MachinePart {
  const { namespace } = object.metadata;
  return {
    reference: (name) => ({ apiGroup: KubeadmConfig.group, kind: KubeadmConfig.kind, name }),
    existing: (name) => cache.get(KubeadmConfig, { namespace, name }) as ContractObject | undefined,
    describe: ({ name, namespace: where, owner, labels }) => ({
      apiVersion: KubeadmConfig.apiVersion,
      kind: KubeadmConfig.kind,
      metadata: { name, namespace: where, labels, ownerReferences: [owner] },
      spec: desiredConfig(object, mode),
    }),
    problem: undefined,
  };
}
