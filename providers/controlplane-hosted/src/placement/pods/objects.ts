import { createHash } from "node:crypto";
import { trusted } from "@capstan/controlplane";
import { type EtcdMember, initialCluster } from "@capstan/etcd";
import type { HostSecret, PersistentVolumeClaim, PodController } from "@capstan/workloads";
import type { ComponentContext } from "../../components/context.ts";
import { ETCD_FILES, etcdArguments } from "../../components/etcd.ts";
import { KUBE_APISERVER_FILES, kubeApiserverArguments } from "../../components/kube-apiserver.ts";
import {
  KUBE_CONTROLLER_MANAGER_FILES,
  kubeControllerManagerArguments,
} from "../../components/kube-controller-manager.ts";
import { KUBE_SCHEDULER_FILES, kubeSchedulerArguments } from "../../components/kube-scheduler.ts";
import { pickFiles } from "../component-files.ts";
import type { ControlPlanePlan } from "../placement.ts";
import { API_PORT, konnectivityOn } from "./exposure.ts";
import { konnectivityFiles, konnectivityServer, SOCKET_MOUNT, SOCKET_VOLUME } from "./konnectivity.ts";
import {
  etcdHost,
  filesSecretName,
  memberClaim,
  memberLabels,
  memberName,
  nameOf,
  ownMetadata,
  type PodComponent,
  type PodNames,
  selectorLabels,
} from "./names.ts";
import { type PodsMember, type PodsRecord, RECORD_ANNOTATION } from "./record.ts";
import { podTemplate, probesOf, schedulerPaths, secretKey, VERSION_ANNOTATION } from "./template.ts";

/** Ports of an etcd member. */
export const ETCD_PORTS = { client: 2379, peer: 2380, metrics: 2381 };
const CONTROLLER_MANAGER_PORT = 10257;
const SCHEDULER_PORT = 10259;
/** How long a kube-apiserver keeps serving after it received SIGTERM. */
export const DRAIN_SECONDS = 5;

/** Everything that the objects of a control plane are built from. */
export interface PodsInput {
  plan: ControlPlanePlan;
  names: PodNames;
  context: ComponentContext;
  record: PodsRecord;
  /** Files by kubeadm's names. */
  files: Record<string, string>;
}

/** Returns the files of a component. */
export function componentSecretFiles(input: PodsInput, component: PodComponent): Record<string, string> {
  const { plan, files } = input;
  switch (component) {
    case "etcd":
      return pickFiles(files, ETCD_FILES);
    case "kube-apiserver":
      return {
        ...pickFiles(files, KUBE_APISERVER_FILES),
        ...(konnectivityOn(plan.spec)
          ? konnectivityFiles(files, plan.clusterName, trusted(plan.authorities, "cluster"))
          : {}),
        ...plan.userFiles.apiServer,
      };
    case "kube-controller-manager":
      return { ...pickFiles(files, KUBE_CONTROLLER_MANAGER_FILES), ...plan.userFiles.controllerManager };
    case "kube-scheduler":
      return { ...pickFiles(files, KUBE_SCHEDULER_FILES), ...plan.userFiles.scheduler };
  }
}

/**
 * Returns the Secret with a component's files. etcd's also holds how members start and the record of its data, so that they are written
 * atomically.
 */
export function filesSecret(input: PodsInput, component: PodComponent): HostSecret {
  const files = componentSecretFiles(input, component);
  const metadata = ownMetadata(input.names, filesSecretName(input.names, component), component);
  const own: Record<string, string> = component === "etcd" ? { [RECORD_ANNOTATION]: JSON.stringify(input.record) } : {};
  const begin = component === "etcd" ? beginnings(input) : {};
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...own } },
    type: "Opaque",
    data: Object.fromEntries(
      [...Object.entries(files), ...Object.entries(begin)].map(([path, text]) => [
        secretKey(path),
        Buffer.from(text).toString("base64"),
      ]),
    ),
  };
}

/**
 * How each member starts with an empty volume; read at every start, so a change replaces no pod. A member that has
 * held data is configured to join a cluster of only itself, which fails: it neither starts empty nor votes without its data.
 */
function beginnings({ names, record }: PodsInput): Record<string, string> {
  return Object.fromEntries(
    record.members.flatMap(({ index, began, started, joined }) => {
      const members = (started === true ? [index] : began).map((each) => etcdMember(names, each));
      const state = started === true || joined === true ? "existing" : "new";
      return [
        [clusterKey(index), initialCluster(members)],
        [stateKey(index), state],
      ];
    }),
  );
}

const clusterKey = (index: number): string => `initial-cluster-${index}`;
const stateKey = (index: number): string => `initial-cluster-state-${index}`;

/** Returns the name and addresses of a member. */
export function etcdMember(names: PodNames, index: number): EtcdMember {
  const host = etcdHost(names, index);
  return {
    name: memberName(names, index),
    clientUrl: `https://${host}:${ETCD_PORTS.client}`,
    peerUrl: `https://${host}:${ETCD_PORTS.peer}`,
    listenClientUrl: `https://0.0.0.0:${ETCD_PORTS.client}`,
    listenPeerUrl: `https://0.0.0.0:${ETCD_PORTS.peer}`,
    metricsUrl: `http://0.0.0.0:${ETCD_PORTS.metrics}`,
  };
}

/** Files that programs reload when they change: certificates and their keys, but not signing keys and CAs. */
const RELOADED: Record<PodComponent, RegExp> = {
  etcd: /^etcd\/(server|peer)\./,
  "kube-apiserver": /^(ca\.crt|apiserver.*|front-proxy-.*|konnectivity-server\.(crt|key)|capstan-encryption\.yaml)$/,
  "kube-controller-manager": /^controller-manager\.(crt|key)$/,
  "kube-scheduler": /^scheduler\.(crt|key)$/,
};

/** Changes with the files that a program does not reload, so that its pods are replaced. */
function digestOf(files: Record<string, string>, component: PodComponent): string {
  const fixed = Object.entries(files).filter(([path]) => !RELOADED[component].test(path));
  return createHash("sha256")
    .update(JSON.stringify(fixed.toSorted(([a], [b]) => a.localeCompare(b, "en"))))
    .digest("hex")
    .slice(0, 16);
}

/** Annotation with a digest of a member's pod template; the pod is replaced when it changes. */
export const TEMPLATE_ANNOTATION = "capstan.dev/template-digest";

/** Differences between a member of etcd and a trial. */
interface EtcdPod {
  member: EtcdMember;
  labels: Record<string, string>;
  env?: readonly object[];
  volumes: readonly object[];
}

/** Returns the pod template of an etcd; it does not change with a Kubernetes version that uses the same etcd. */
export function etcdTemplate(input: PodsInput, { member, labels, env, volumes }: EtcdPod): object {
  const { names, plan, context, record } = input;
  const files = componentSecretFiles(input, "etcd");
  const args = etcdArguments(context, member);
  return withoutVersion(
    podTemplate({
      names,
      component: "etcd",
      labels,
      // The image chosen for the data, which may differ from the default image of the version.
      spec: { ...plan.spec, etcd: { ...plan.spec.etcd, image: record.etcdImage } },
      version: plan.version,
      args: env === undefined ? args : args.filter((argument) => !argument.startsWith("--initial-cluster=")),
      files,
      digest: digestOf(files, "etcd"),
      ports: [
        { name: "client", containerPort: ETCD_PORTS.client },
        { name: "peer", containerPort: ETCD_PORTS.peer },
        { name: "metrics", containerPort: ETCD_PORTS.metrics },
      ],
      probes: probesOf(ETCD_PORTS.metrics, "HTTP", { live: "/livez", ready: "/readyz" }),
      env,
      volumeMounts: [{ name: "data", mountPath: "/var/lib/etcd" }],
      volumes,
      stopSeconds: 30,
    }),
  );
}

/** Returns the StatefulSet of one member with its volume. Each member has its own, so that it can be stopped and replaced alone. */
export function etcdStatefulSet(input: PodsInput, member: PodsMember): PodController {
  const { names, record } = input;
  const { index } = member;
  const name = memberName(names, index);
  const fromSecret = (variable: string, key: string): object => ({
    name: variable,
    valueFrom: { secretKeyRef: { name: filesSecretName(names, "etcd"), key } },
  });
  const persistent = record.storage.type !== "EmptyDir";
  const labels = memberLabels(names, index);
  const template = etcdTemplate(input, {
    member: etcdMember(names, index),
    labels,
    env: [
      fromSecret("ETCD_INITIAL_CLUSTER", clusterKey(index)),
      fromSecret("ETCD_INITIAL_CLUSTER_STATE", stateKey(index)),
    ],
    volumes: persistent ? [] : [{ name: "data", emptyDir: {} }],
  });
  const metadata = ownMetadata(names, name, "etcd");
  const digest = createHash("sha256").update(JSON.stringify(template)).digest("hex").slice(0, 16);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, [TEMPLATE_ANNOTATION]: digest },
    },
    spec: {
      replicas: member.replacing === undefined ? 1 : 0,
      serviceName: nameOf(names, "etcd"),
      selector: { matchLabels: labels },
      template,
      // A replaced pod starts without the content of its EmptyDir.
      updateStrategy: { type: persistent ? "RollingUpdate" : "OnDelete" },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      ...(persistent ? { volumeClaimTemplates: [claimTemplate(input)] } : {}),
    },
  } as PodController;
}

/** Returns the PersistentVolumeClaim of a member as its StatefulSet would create it, for use before that exists. */
export function memberVolume(input: PodsInput, index: number): PersistentVolumeClaim {
  const { metadata, ...rest } = claimTemplate(input);
  const { namespace } = input.names;
  return {
    ...rest,
    metadata: { ...metadata, namespace, name: memberClaim(input.names, index) },
  } as PersistentVolumeClaim;
}

function withoutVersion(template: object): object {
  const { metadata, ...rest } = template as { metadata: { annotations: Record<string, string> } };
  const { [VERSION_ANNOTATION]: _version, ...annotations } = metadata.annotations;
  return { ...rest, metadata: { ...metadata, annotations } };
}

function claimTemplate({ names, record }: PodsInput): { metadata: object } & Record<string, unknown> {
  const { labels, annotations } = ownMetadata(names, "data", "etcd");
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data", labels, annotations },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: record.storage.storageClassName,
      resources: { requests: { storage: record.storage.size ?? "8Gi" } },
    },
  };
}

/** Returns the Deployment of kube-apiserver. A new pod is ready before an old one stops, so the API stays available. */
export function apiserverDeployment(input: PodsInput, version: string, replicas: number): PodController {
  const { plan, names } = input;
  const files = componentSecretFiles(input, "kube-apiserver");
  const tunnel = konnectivityOn(plan.spec);
  return deployment(input, "kube-apiserver", version, replicas, {
    args: kubeApiserverArguments({ ...input.context, version }),
    files,
    digest: digestOf(files, "kube-apiserver"),
    ports: [{ name: "https", containerPort: API_PORT }],
    probes: probesOf(API_PORT, "HTTPS", { live: "/livez", ready: "/readyz" }),
    volumes: [{ name: "run", emptyDir: {} }, ...(tunnel ? [SOCKET_VOLUME] : [])],
    volumeMounts: [{ name: "run", mountPath: "/var/run/kubernetes" }, ...(tunnel ? [SOCKET_MOUNT] : [])],
    beside: tunnel ? [konnectivityServer(plan.spec, version)] : [],
    stopSeconds: DRAIN_SECONDS + 60,
    // The published binary has a file capability and fails to start where that is forbidden; it does not need it.
    capabilities: ["NET_BIND_SERVICE"],
    names,
  });
}

/** Returns the Deployment of kube-controller-manager. */
export function controllerManagerDeployment(input: PodsInput, version: string, replicas: number): PodController {
  const files = componentSecretFiles(input, "kube-controller-manager");
  return deployment(input, "kube-controller-manager", version, replicas, {
    args: kubeControllerManagerArguments(input.context),
    files,
    digest: digestOf(files, "kube-controller-manager"),
    ports: [{ name: "https", containerPort: CONTROLLER_MANAGER_PORT }],
    probes: probesOf(CONTROLLER_MANAGER_PORT, "HTTPS", { live: "/healthz", ready: "/healthz" }),
    stopSeconds: 10,
    names: input.names,
  });
}

/** Returns the Deployment of kube-scheduler. */
export function schedulerDeployment(input: PodsInput, version: string, replicas: number): PodController {
  const files = componentSecretFiles(input, "kube-scheduler");
  return deployment(input, "kube-scheduler", version, replicas, {
    args: kubeSchedulerArguments(input.context),
    files,
    digest: digestOf(files, "kube-scheduler"),
    ports: [{ name: "https", containerPort: SCHEDULER_PORT }],
    probes: probesOf(SCHEDULER_PORT, "HTTPS", schedulerPaths(version)),
    stopSeconds: 10,
    names: input.names,
  });
}

function deployment(
  input: PodsInput,
  component: PodComponent,
  version: string,
  replicas: number,
  rest: Omit<Parameters<typeof podTemplate>[0], "component" | "spec" | "version">,
): PodController {
  const { names, plan } = input;
  const metadata = ownMetadata(names, nameOf(names, component), component);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, annotations: { ...metadata.annotations, [VERSION_ANNOTATION]: version } },
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 300,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: selectorLabels(names, component) },
      template: podTemplate({ ...rest, component, spec: plan.spec, version }),
    },
  } as PodController;
}

/** Ports of the health endpoints, as used in command lines. */
export const HEALTH_PORTS = { controllerManager: CONTROLLER_MANAGER_PORT, scheduler: SCHEDULER_PORT };
