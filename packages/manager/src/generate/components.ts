import { toYaml, type Unstructured } from "@capstan/apimachinery";
import { clusterTemplates, crdWithWebhook, kindsRole, type WebhookTarget, webhookConfigurations } from "@capstan/capi";
import { MANAGER_ACCOUNT, MANAGER_NAMESPACE, managerAccess } from "../access.ts";
import { KINDS } from "../kinds.ts";
import { kindsOf, PROVIDERS } from "../providers.ts";
import { userRoles } from "../user-roles.ts";
import { WEBHOOK_CONFIGURATION } from "../webhooks.ts";

/** A provider in clusterctl's sense: what `clusterctl init` or `kubectl apply` installs as one. */
interface Component {
  /** Value of the label `cluster.x-k8s.io/provider`, and folder in the repository. */
  label: string;
  file: string;
  groups: readonly string[];
  /** Whether the manager, which runs all controllers, comes with it. */
  manager: boolean;
  /** Whether templates of clusters come with it: clusterctl looks for them at the infrastructure provider. */
  templates?: boolean;
}

const SERVICE = "capstan-webhooks";
const PORT = 9443;
const METRICS_PORT = 8443;
const HEALTH_PORT = 9440;
const METRICS_READER = "capstan-metrics-reader";
const TARGET: WebhookTarget = { type: "service", namespace: MANAGER_NAMESPACE, name: SERVICE, port: 443 };

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
    groups: ["infrastructure.cluster.x-k8s.io", ...PROVIDERS.flatMap(({ sharedGroups }) => sharedGroups ?? [])],
    manager: false,
    templates: true,
  },
];

/** Renders the files of a clusterctl repository for a release, by path: `LABEL/vX.Y.Z/FILE`. */
export function componentFiles(version: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const component of COMPONENTS) {
    const folder = `${component.label}/v${version}`;
    files.set(`${folder}/${component.file}`, objectsOf(component, version).map(document).join(""));
    files.set(`${folder}/metadata.yaml`, toYaml(metadataOf(version)));
    if (component.templates === true)
      for (const [name, text] of clusterTemplates(PROVIDERS)) files.set(`${folder}/${name}`, text);
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
  const providers = PROVIDERS.map(({ access, kinds: all }) => ({
    kinds: all.filter(({ group }) => component.groups.includes(group)),
    access,
  }));
  const kinds = kindsOf(providers);
  const objects = [
    ...(component.manager ? [namespace()] : []),
    ...kinds.map((kind) => crdWithWebhook(kind, TARGET)),
    kindsRole(component.label, kinds),
    ...userRoles(component.label, providers),
    ...(component.manager ? manager(version) : []),
  ];
  const label = { "cluster.x-k8s.io/provider": component.label };
  return objects.map((object) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...label } },
  }));
}

function namespace(): Unstructured {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: MANAGER_NAMESPACE } };
}

function manager(version: string): Unstructured[] {
  const metadata = { name: MANAGER_ACCOUNT, namespace: MANAGER_NAMESPACE };
  return [
    ...managerAccess(),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: SERVICE, namespace: MANAGER_NAMESPACE },
      spec: { selector: { app: MANAGER_ACCOUNT }, ports: [{ name: "webhooks", port: 443, targetPort: PORT }] },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "capstan-metrics", namespace: MANAGER_NAMESPACE, labels: { app: MANAGER_ACCOUNT } },
      spec: {
        selector: { app: MANAGER_ACCOUNT },
        ports: [{ name: "metrics", port: METRICS_PORT, targetPort: "metrics" }],
      },
    },
    // For collectors of metrics; it has no effect until it is bound.
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: METRICS_READER },
      rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
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
      // One leads at a time, whatever the number: the next one serves webhooks and waits for the Lease before the last one goes.
      replicas: 1,
      selector: { matchLabels: { app: MANAGER_ACCOUNT } },
      template: {
        metadata: { labels: { app: MANAGER_ACCOUNT } },
        spec: {
          serviceAccountName: MANAGER_ACCOUNT,
          containers: [
            {
              name: "manager",
              image: `\${CAPSTAN_IMAGE:=capstan:v${version}}`,
              args: [
                "manager",
                "--data=/data",
                `--webhook-listen=0.0.0.0:${PORT}`,
                `--webhook-service=${MANAGER_NAMESPACE}/${SERVICE}`,
                "--leader-elect",
                `--metrics-bind-address=:${METRICS_PORT}`,
                `--health-addr=:${HEALTH_PORT}`,
                "--log-level=info",
              ],
              ports: [
                { name: "webhooks", containerPort: PORT },
                { name: "metrics", containerPort: METRICS_PORT },
                { name: "health", containerPort: HEALTH_PORT },
              ],
              livenessProbe: { httpGet: { path: "/healthz", port: "health" }, periodSeconds: 20, failureThreshold: 3 },
              readinessProbe: { httpGet: { path: "/readyz", port: "health" }, periodSeconds: 10 },
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
