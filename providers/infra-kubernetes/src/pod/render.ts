import { deepCopy, parseQuantity, quantityValue } from "@capstan/apimachinery";
import type { Pod } from "@capstan/workloads";
import { bootstrapName, hexOf, type Key, ownerOf, ownMetadata, providerIdOf, scriptsName } from "../names.ts";
import { SCRIPTS_DIR } from "../node/scripts.ts";
import { CLAIM_FOLDERS, machineLabels, nodeVolumes, spreadOf } from "./defaults.ts";
import type { Container, NodeAffinity, PodSpec, Resources, SecurityContext, Volume, VolumeMount } from "./shape.ts";
import { nodeContainer, type PodSettings, templateSpec } from "./template.ts";

/** All that a machine's pod depends on. */
export interface PodInput {
  readonly key: Key;
  readonly cluster: string;
  readonly controlPlane: boolean;
  /** Kubernetes version of the Machine, such as v1.34.1. */
  readonly version: string | undefined;
  readonly apiPort: number;
  readonly settings: PodSettings & {
    readonly image?: string;
    readonly podTemplate?: { readonly metadata?: { labels?: object; annotations?: object } };
    readonly resources?: Pick<Resources, "requests" | "limits">;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
  readonly failureDomain: { readonly label: string; readonly value: string } | undefined;
  readonly bootstrapTimeoutSeconds: number;
  /** Priority class unless the template has one. */
  readonly priorityClassName?: string | undefined;
}

/** What the probes allow in addition to the bootstrap script's own timeout: booting, and importing images. */
const START_SECONDS = 300;
const STARTUP_PERIOD_SECONDS = 2;
const GRACE_SECONDS = 60;

/** Returns the image of a machine; undefined when neither its spec nor its version says which. */
export function imageOf({ settings, version }: Pick<PodInput, "settings" | "version">): string | undefined {
  const own = settings.image ?? nodeContainer(templateSpec(settings))?.["image"];
  if (typeof own === "string") return own;
  return version === undefined ? undefined : `kindest/node:${version}`;
}

/** Returns a machine's pod. The template must have no problems. */
export function renderPod(input: PodInput): Pod {
  const { key, settings, cluster, controlPlane } = input;
  const template = deepCopy(templateSpec(settings));
  const node = nodeContainer(template) ?? { name: "node" };
  const spec = { ...spreadOf(cluster, controlPlane), ...template };
  const privileged = isPrivileged(template, node);
  const volumes = volumesOf(input, template, node, privileged);
  const claims = claimVolumes(input);
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: ownMetadata(ownerOf("kubernetesmachine", key), key.name, {
      labels: {
        ...ownLabels(settings.podTemplate?.metadata?.labels),
        ...machineLabels(cluster, controlPlane),
        "app.kubernetes.io/component": "machine",
      },
      annotations: { ...settings.podTemplate?.metadata?.annotations },
    }),
    spec: {
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      priorityClassName: input.priorityClassName,
      ...spec,
      ...affinityOf(input, template),
      hostname: key.name,
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      containers: [
        nodeOf(input, node, volumes, privileged),
        ...(template.containers ?? []).filter(({ name }) => name !== node.name),
      ],
      volumes: [
        ...(template.volumes ?? []).filter(({ name }) => !claims.some((claim) => claim.name === name)),
        ...claims,
        ...volumes.added,
        scriptsVolume(key.name),
      ],
    },
  };
  return pod as unknown as Pod;
}

/** What selects machines, for Services and budgets, is not the template's. */
function ownLabels(labels: object = {}): object {
  return Object.fromEntries(
    Object.entries(labels).filter(([name]) => !/(^|\.)(cluster\.x-k8s\.io|capstan\.dev)\//.test(name)),
  );
}

/** A user namespace or another runtime takes the place of privileges. */
function isPrivileged(template: PodSpec, node: Container): boolean {
  const own = node.securityContext?.privileged;
  return own ?? (template["hostUsers"] !== false && template["runtimeClassName"] === undefined);
}

function nodeOf(input: PodInput, own: Container, volumes: AddedVolumes, privileged: boolean): Container {
  const { key, controlPlane, apiPort, settings } = input;
  const resources = resourcesOf(settings.resources, own.resources, input);
  return {
    imagePullPolicy: "IfNotPresent",
    ...(controlPlane
      ? { readinessProbe: { tcpSocket: { port: apiPort }, periodSeconds: 2, failureThreshold: 2 } }
      : {}),
    startupProbe: {
      exec: { command: ["/bin/bash", `${SCRIPTS_DIR}/probe`] },
      periodSeconds: STARTUP_PERIOD_SECONDS,
      timeoutSeconds: 5,
      failureThreshold: Math.ceil((input.bootstrapTimeoutSeconds + START_SECONDS) / STARTUP_PERIOD_SECONDS),
    },
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...own,
    image: imageOf(input),
    command: ["/bin/bash", `${SCRIPTS_DIR}/entrypoint`],
    // systemd writes to the console if there is one.
    tty: true,
    securityContext: securityOf(own, privileged),
    resources,
    ...(controlPlane ? { ports: portsOf(own, apiPort) } : {}),
    env: [
      ...(own.env ?? []),
      { name: "CAPSTAN_STAGE", value: "outside" },
      { name: "CAPSTAN_PROVIDER_ID", value: providerIdOf(key) },
      { name: "CAPSTAN_MACHINE_ID", value: hexOf(`${input.cluster} ${providerIdOf(key)}`).slice(0, 32) },
      { name: "CAPSTAN_CPU_MILLIS", value: amountOf(resources, "cpu", 1000) },
      { name: "CAPSTAN_MEMORY_KI", value: amountOf(resources, "memory", 1 / 1024) },
    ],
    volumeMounts: [
      ...(own.volumeMounts ?? []),
      ...volumes.mounts,
      { name: "capstan", mountPath: SCRIPTS_DIR, readOnly: true },
    ],
  };
}

function securityOf(own: Container, privileged: boolean): SecurityContext {
  const unconfined = { type: "Unconfined" };
  return {
    ...(privileged ? { privileged: true, seccompProfile: unconfined, appArmorProfile: unconfined } : {}),
    ...own.securityContext,
  };
}

function portsOf(own: Container, apiPort: number): object[] {
  const ports = own.ports ?? [];
  if (ports.some(({ name }) => name === API_PORT_NAME)) return ports;
  return [...ports, { name: API_PORT_NAME, containerPort: apiPort, protocol: "TCP" }];
}

/** Name of the port of the API servers, to which the Service refers. */
export const API_PORT_NAME = "kube-apiserver";

/** A pod without any request is BestEffort: the first to be evicted, and its cgroup is not where nested kubelets expect it. */
function resourcesOf(
  settings: Pick<Resources, "requests" | "limits"> | undefined,
  own: Resources | undefined,
  input: PodInput,
): Resources {
  const limits = { ...own?.limits, ...settings?.limits };
  const requests = { ...own?.requests, ...settings?.requests };
  const others = (templateSpec(input.settings).containers ?? []).filter((each) => each !== own);
  const some = (amounts: object | undefined): boolean =>
    ["cpu", "memory"].some((name) => isPositive((amounts as Record<string, string> | undefined)?.[name]));
  const bestEffort = ![
    limits,
    requests,
    ...others.flatMap(({ resources }) => [resources?.limits, resources?.requests]),
  ].some(some);
  return {
    ...own,
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(bestEffort ? { requests: { ...requests, cpu: "1m" } } : Object.keys(requests).length === 0 ? {} : { requests }),
  };
}

/** Requests of zero do not count. */
function isPositive(amount: string | number | undefined): boolean {
  return amount !== undefined && parseQuantity(amount).nanos > 0n;
}

/** Returns a limit as whole units, which a script reads; empty when there is none. */
function amountOf({ limits }: Resources, name: string, perUnit: number): string {
  const limit = limits?.[name];
  return limit === undefined ? "" : String(Math.floor(quantityValue(parseQuantity(limit)) * perUnit));
}

interface AddedVolumes {
  readonly added: Volume[];
  readonly mounts: VolumeMount[];
}

/** What the node needs and the template does not have: a mount at the same folder or a volume of the same name takes its place. */
function volumesOf(input: PodInput, template: PodSpec, node: Container, privileged: boolean): AddedVolumes {
  const folders = new Set((node.volumeMounts ?? []).map(({ mountPath }) => mountPath));
  const mounted = new Set((node.volumeMounts ?? []).map(({ name }) => name));
  const named = new Set([...(template.volumes ?? []), ...claimVolumes(input)].map(({ name }) => name));
  const wanted = nodeVolumes(input.controlPlane, privileged).filter(
    ({ mountPath, becomes = mountPath }) => !folders.has(mountPath) && !folders.has(becomes),
  );
  const claimed = claimVolumes(input).flatMap(({ name }) => {
    const mountPath = CLAIM_FOLDERS[name];
    const isTaken = mountPath === undefined || folders.has(mountPath) || mounted.has(name);
    return isTaken || wanted.some((each) => each.mountPath === mountPath) ? [] : [{ name, mountPath }];
  });
  return {
    added: wanted.map(({ volume }) => volume).filter(({ name }) => !named.has(name)),
    mounts: [
      ...claimed,
      ...wanted.map(({ volume, mountPath, readOnly }) => ({
        name: volume.name,
        mountPath,
        ...(readOnly === true ? { readOnly } : {}),
      })),
    ],
  };
}

function claimVolumes({ key, settings }: PodInput): Volume[] {
  return (settings.volumeClaimTemplates ?? []).map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(name, key.name) },
  }));
}

/** Returns the name of a machine's claim, as StatefulSets build it. */
export function claimName(template: string, machine: string): string {
  return `${template}-${machine}`;
}

/** The bootstrap script is optional: its Secret is deleted once it has run, and then it vanishes from the pod too. */
function scriptsVolume(machine: string): Volume {
  return {
    name: "capstan",
    projected: {
      defaultMode: 0o400,
      sources: [
        { secret: { name: scriptsName(machine) } },
        { secret: { name: bootstrapName(machine), optional: true } },
      ],
    },
  };
}

/** Adds the failure domain to whatever the template says about nodes. */
function affinityOf({ failureDomain }: PodInput, { affinity }: PodSpec): { affinity?: object } {
  if (failureDomain === undefined) return {};
  const rule = { key: failureDomain.label, operator: "In", values: [failureDomain.value] };
  const node: NodeAffinity = affinity?.nodeAffinity ?? {};
  const terms = node.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  return {
    affinity: {
      ...affinity,
      nodeAffinity: {
        ...node,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: terms.map((term) => ({
            ...term,
            matchExpressions: [...(term.matchExpressions ?? []), rule],
          })),
        },
      },
    },
  };
}
