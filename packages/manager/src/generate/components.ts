import { toYaml, type Unstructured } from "@capstan/apimachinery";
import { crdWithWebhook, type WebhookTarget, webhookConfigurations } from "@capstan/capi";
import { type AnyKind, KINDS } from "../kinds.ts";
import { WEBHOOK_CONFIGURATION } from "../webhooks.ts";

/** A provider in clusterctl's sense: what `clusterctl init` or `kubectl apply` installs as one. */
interface Component {
  /** Value of the label `cluster.x-k8s.io/provider`, and folder in the repository. */
  label: string;
  file: string;
  groups: readonly string[];
  /** Whether the manager, which runs all controllers, comes with it. */
  manager: boolean;
}

const NAMESPACE = "capstan-system";
const SERVICE = "capstan-webhooks";
const ACCOUNT = "capstan-manager";
const PORT = 9443;
const TARGET: WebhookTarget = { type: "service", namespace: NAMESPACE, name: SERVICE, port: 443 };

const COMPONENTS: readonly Component[] = [
  {
    label: "capstan",
    file: "core-components.yaml",
    groups: ["cluster.x-k8s.io", "addons.cluster.x-k8s.io", "ipam.cluster.x-k8s.io", "capstan.dev"],
    manager: true,
  },
  {
    label: "bootstrap-capstan",
    file: "bootstrap-components.yaml",
    groups: ["bootstrap.cluster.x-k8s.io"],
    manager: false,
  },
  {
    label: "control-plane-capstan",
    file: "control-plane-components.yaml",
    groups: ["controlplane.cluster.x-k8s.io"],
    manager: false,
  },
  {
    label: "infrastructure-capstan",
    file: "infrastructure-components.yaml",
    groups: ["infrastructure.cluster.x-k8s.io", "metal3.io", "ipam.metal3.io"],
    manager: false,
  },
];

/** Files of a clusterctl repository for a release, by path: `LABEL/vX.Y.Z/FILE`. */
export function componentFiles(version: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const component of COMPONENTS) {
    const folder = `${component.label}/v${version}`;
    files.set(`${folder}/${component.file}`, objectsOf(component, version).map(document).join(""));
    files.set(`${folder}/metadata.yaml`, toYaml(metadataOf(version)));
  }
  return files;
}

function document(object: object): string {
  return `---\n${toYaml(object)}`;
}

/** clusterctl's word on which contract a release speaks. */
function metadataOf(version: string): object {
  const [major, minor] = version.split(".").map(Number);
  return {
    apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3",
    kind: "Metadata",
    releaseSeries: [{ major, minor, contract: "v1beta2" }],
  };
}

function objectsOf(component: Component, version: string): Unstructured[] {
  const kinds = KINDS.filter(({ group }) => component.groups.includes(group));
  const objects = [
    ...(component.manager ? [namespace()] : []),
    ...kinds.map((kind) => crdWithWebhook(kind, TARGET)),
    aggregatedRole(component.label, kinds),
    ...(component.manager ? manager(version) : []),
  ];
  const label = { "cluster.x-k8s.io/provider": component.label };
  return objects.map((object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...label } },
  }));
}

function namespace(): Unstructured {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
}

const ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];

/** What the core of Cluster API, ours or upstream's, may do with these kinds. */
function aggregatedRole(name: string, kinds: readonly AnyKind[]): Unstructured {
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${name}-kinds`, labels: { "cluster.x-k8s.io/aggregate-to-manager": "true" } },
    rules: groups.map((group) => {
      const plurals = kinds.filter((kind) => kind.group === group).map(({ plural }) => plural);
      const resources = plurals.flatMap((plural) => [
        plural,
        `${plural}/status`,
        `${plural}/finalizers`,
        `${plural}/scale`,
      ]);
      return { apiGroups: [group], resources, verbs: ALL_VERBS };
    }),
  };
}

/** What the manager needs beside our kinds. */
const MANAGER_RULES = [
  {
    apiGroups: [""],
    resources: ["secrets", "configmaps", "services", "pods", "persistentvolumeclaims"],
    verbs: ALL_VERBS,
  },
  { apiGroups: [""], resources: ["namespaces", "nodes"], verbs: ["get", "list", "watch"] },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "get", "list", "patch", "watch"] },
  { apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: ALL_VERBS },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ALL_VERBS },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ALL_VERBS },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ALL_VERBS },
  {
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    verbs: ["create", "get", "list", "patch", "watch"],
  },
  {
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    verbs: ["create", "get", "list", "patch", "watch"],
  },
];

function manager(version: string): Unstructured[] {
  const metadata = { name: ACCOUNT, namespace: NAMESPACE };
  const rbac = "rbac.authorization.k8s.io";
  const own = "capstan-manager-own";
  const subjects = [{ kind: "ServiceAccount", name: ACCOUNT, namespace: NAMESPACE }];
  const binding = (name: string): Unstructured => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
    subjects,
  });
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: own }, rules: MANAGER_RULES },
    binding(own),
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: ACCOUNT },
      // Filled by Kubernetes from the roles of all providers, ours and others'.
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { "cluster.x-k8s.io/aggregate-to-manager": "true" } }],
      },
      rules: [],
    },
    binding(ACCOUNT),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: SERVICE, namespace: NAMESPACE },
      spec: { selector: { app: ACCOUNT }, ports: [{ name: "webhooks", port: 443, targetPort: PORT }] },
    },
    deployment(metadata, version),
    ...webhookConfigurations(KINDS, WEBHOOK_CONFIGURATION, TARGET),
  ];
}

function deployment(metadata: { name: string; namespace: string }, version: string): Unstructured {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      // One at a time: what it runs on its own disk is not shared.
      replicas: 1,
      strategy: { type: "Recreate" },
      selector: { matchLabels: { app: ACCOUNT } },
      template: {
        metadata: { labels: { app: ACCOUNT } },
        spec: {
          serviceAccountName: ACCOUNT,
          containers: [
            {
              name: "manager",
              image: `\${CAPSTAN_IMAGE:=capstan:v${version}}`,
              args: [
                "manager",
                "--data=/data",
                `--webhook-listen=0.0.0.0:${PORT}`,
                `--webhook-service=${NAMESPACE}/${SERVICE}`,
                "--log-level=info",
              ],
              ports: [{ name: "webhooks", containerPort: PORT }],
              volumeMounts: [{ name: "data", mountPath: "/data" }],
              resources: { requests: { cpu: "100m", memory: "256Mi" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                capabilities: { drop: ["ALL"] },
                runAsNonRoot: true,
                runAsUser: 65532,
                seccompProfile: { type: "RuntimeDefault" },
              },
            },
          ],
          securityContext: { fsGroup: 65532 },
          volumes: [{ name: "data", emptyDir: {} }],
        },
      },
    },
  };
}
