import { versionFacts } from "@capstan/controlplane";
import { OWNER_ANNOTATION } from "@capstan/workloads";
import { minor } from "semver";
import { FILES_FOLDER } from "../../components/files-folder.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { filesSecretName, type PodComponent, type PodNames, selectorLabels } from "./names.ts";

/** Folder of a component's files, as kubeadm uses it. */
export const FILES_DIR = FILES_FOLDER.Pods;
/** Folder of etcd's data; a subfolder of the volume, because a file system may put files of its own into the root. */
export const DATA_DIR = "/var/lib/etcd/data";
/** User id of nonroot, as in distroless images. */
const USER = 65532;

/** What differs between the pod templates of components. */
export interface TemplateInput {
  names: PodNames;
  component: PodComponent;
  /** Labels of the pods, if the component's labels are not enough to select them. */
  labels?: Record<string, string>;
  spec: HostedControlPlaneSpec;
  version: string;
  args: readonly string[];
  /** Files by path below FILES_DIR. */
  files: Record<string, string>;
  /** Changes if the pods must be replaced although their template is the same. */
  digest: string;
  ports: readonly { name: string; containerPort: number }[];
  probes: object;
  env?: readonly object[];
  volumeMounts?: readonly object[];
  volumes?: readonly object[];
  /** Containers in addition to the component's own. */
  beside?: readonly object[];
  stopSeconds: number;
  capabilities?: readonly string[];
}

const SETTINGS = {
  etcd: "etcd",
  "kube-apiserver": "apiServer",
  "kube-controller-manager": "controllerManager",
  "kube-scheduler": "scheduler",
} as const;

/** kubeadm's requests. */
const REQUESTS: Record<PodComponent, Record<string, string>> = {
  etcd: { cpu: "100m", memory: "100Mi" },
  "kube-apiserver": { cpu: "250m" },
  "kube-controller-manager": { cpu: "200m" },
  "kube-scheduler": { cpu: "100m" },
};

/** Returns the pod template of a component: not root, unprivileged, without a service account token, spread over nodes. */
export function podTemplate(input: TemplateInput): object {
  const { names, component } = input;
  const labels = selectorLabels(names, component);
  return {
    metadata: {
      labels: { ...labels, ...input.labels, "app.kubernetes.io/managed-by": "capstan" },
      annotations: {
        [OWNER_ANNOTATION]: names.owner,
        [VERSION_ANNOTATION]: input.version,
        "capstan.dev/files-digest": input.digest,
      },
    },
    spec: {
      automountServiceAccountToken: false,
      // Hundreds of Services would become thousands of environment variables.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: input.stopSeconds,
      securityContext: nobody(),
      ...spreadOf(labels),
      ...placementOf(input.spec, component),
      containers: [ownContainer(input), ...(input.beside ?? [])],
      volumes: [
        {
          name: "files",
          secret: {
            secretName: filesSecretName(names, component),
            defaultMode: 0o440,
            items: Object.keys(input.files)
              .toSorted()
              .map((path) => ({ key: secretKey(path), path })),
          },
        },
        { name: "tmp", emptyDir: {} },
        ...(input.volumes ?? []),
      ],
    },
  };
}

/** Returns the security context of a pod: an unprivileged user that owns its volumes. */
export function nobody(): object {
  return {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" },
  };
}

/** Returns the scheduling constraints that spread pods with the same labels over nodes and zones. */
export function spreadOf(labels: Record<string, string>): object {
  return {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: labels } },
          },
        ],
      },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: labels },
      },
    ],
  };
}

/** Annotation with the Kubernetes version that a pod runs. */
export const VERSION_ANNOTATION = "capstan.dev/version";

/** Returns the Secret key for a file path, without slashes. */
export function secretKey(path: string): string {
  return path.replaceAll("/", "__");
}

/** Returns the security context of a container: no privilege escalation, read-only root file system, no other capabilities. */
export function restricted(capabilities: readonly string[] = []): object {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"], ...(capabilities.length === 0 ? {} : { add: capabilities }) },
  };
}

/** Returns the image of a component, with kubeadm's name unless the spec sets another. */
export function imageOf(component: PodComponent, spec: HostedControlPlaneSpec, version: string): string {
  const repository = spec.imageRepository ?? "registry.k8s.io";
  const tag = component === "etcd" ? versionFacts(version).etcd : version;
  return spec[SETTINGS[component]]?.image ?? `${repository}/${component}:${tag}`;
}

/** Returns the probes of a component: kubeadm's values, but without an initial delay. */
export function probesOf(port: number, scheme: "HTTP" | "HTTPS", paths: { live: string; ready: string }): object {
  const get = (path: string): object => ({ httpGet: { path, port, scheme } });
  return {
    startupProbe: { ...get(paths.live), periodSeconds: 2, timeoutSeconds: 15, failureThreshold: 120 },
    livenessProbe: { ...get(paths.live), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
    readinessProbe: { ...get(paths.ready), periodSeconds: 2, timeoutSeconds: 15, failureThreshold: 3 },
  };
}

/** Returns the health endpoints of kube-scheduler. */
export function schedulerPaths(version: string): { live: string; ready: string } {
  return minor(version) >= 32 ? { live: "/livez", ready: "/readyz" } : { live: "/healthz", ready: "/healthz" };
}

/** Returns the scheduling settings of a component's pods. */
export function placementOf({ pods }: HostedControlPlaneSpec, component: PodComponent): object {
  const tolerations = [
    ...(pods?.tolerations ?? []),
    // Pods leave a lost node after seconds instead of minutes; etcd's volume could not be moved that fast anyway.
    ...(component === "etcd" ? [] : [leaveSoon("not-ready"), leaveSoon("unreachable")]),
  ];
  return {
    ...(pods?.nodeSelector === undefined ? {} : { nodeSelector: pods.nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(pods?.priorityClassName === undefined ? {} : { priorityClassName: pods.priorityClassName }),
    ...(pods?.imagePullSecrets === undefined
      ? {}
      : { imagePullSecrets: pods.imagePullSecrets.map((name) => ({ name })) }),
  };
}

function ownContainer(input: TemplateInput): object {
  const { component, spec } = input;
  const settings = spec[SETTINGS[component]];
  const memory = component === "etcd" ? undefined : spec[SETTINGS[component]]?.memoryBytes;
  const env = [...(input.env ?? []), ...(memory === undefined ? [] : [{ name: "GOMEMLIMIT", value: String(memory) }])];
  return {
    name: component,
    image: imageOf(component, spec, input.version),
    imagePullPolicy: "IfNotPresent",
    command: [component, ...input.args.map(inPod)],
    ...(env.length === 0 ? {} : { env }),
    ports: input.ports.map((port) => ({ ...port, protocol: "TCP" })),
    ...input.probes,
    resources: { requests: REQUESTS[component], ...settings?.resources },
    securityContext: restricted(input.capabilities),
    // The end of the log becomes the pod's message, and so our condition's.
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [
      { name: "files", mountPath: FILES_DIR, readOnly: true },
      { name: "tmp", mountPath: "/tmp" },
      ...(input.volumeMounts ?? []),
    ],
  };
}

function inPod(argument: string): string {
  return argument.replaceAll("$FILES", FILES_DIR).replaceAll("$DATA", DATA_DIR);
}

function leaveSoon(condition: string): object {
  return {
    key: `node.kubernetes.io/${condition}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 10,
  };
}
