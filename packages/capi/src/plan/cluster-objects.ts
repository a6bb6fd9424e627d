import type { Unstructured } from "@capstan/apimachinery";
import type { ClusterPlan, PoolPlan, WorkerGroup } from "./cluster-plan.ts";
import { WORKER_PROVIDERS } from "./worker-providers.ts";

const CORE = "cluster.x-k8s.io";
const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";
const BOOTSTRAP = "bootstrap.cluster.x-k8s.io";
const POOLS = "capstan.dev";
const CONTROL_PLANE = "controlplane.cluster.x-k8s.io";

/** Holds the plan a cluster was made from, so that an interrupted `create` can go on. */
export const PLAN_ANNOTATION = "capstan.dev/created-from";

/** All objects of a planned cluster, the Cluster first: as soon as it is there, `describe`, `delete` and a second `create` know it. */
export function clusterObjects(plan: ClusterPlan): Unstructured[] {
  const { name } = plan;
  const providers = [...new Set(plan.workers.map(({ provider }) => provider))].map(
    (provider) => WORKER_PROVIDERS[provider],
  );
  const [first] = providers;
  // One provider's infrastructure can be named directly; several are held together by a MetaCluster.
  const infrastructureKind = providers.length > 1 ? "MetaCluster" : first?.clusterKind;
  const object = (group: string, kind: string, ownName: string, spec: object): Unstructured => ({
    apiVersion: `${group}/${group === POOLS ? "v1alpha1" : "v1beta2"}`,
    kind,
    metadata: {
      name: ownName,
      namespace: plan.namespace,
      // So that everything of a cluster is found by its name, also what only its owner references tie to it.
      ...(kind === "Cluster" ? {} : { labels: { "cluster.x-k8s.io/cluster-name": name } }),
    },
    spec,
  });
  const reference = (group: string, kind: string, ownName = name): object => ({
    apiGroup: group,
    kind,
    name: ownName,
  });
  const cluster = object(CORE, "Cluster", name, {
    clusterNetwork: { services: { cidrBlocks: plan.serviceCidrs }, pods: { cidrBlocks: plan.podCidrs } },
    ...(infrastructureKind === undefined ? {} : { infrastructureRef: reference(INFRASTRUCTURE, infrastructureKind) }),
    controlPlaneRef: reference(CONTROL_PLANE, "HostedControlPlane"),
  });
  if (Object.keys(plan.labels).length > 0) cluster.metadata.labels = plan.labels;
  cluster.metadata.annotations = { [PLAN_ANNOTATION]: JSON.stringify(plan) };
  const meta = object(INFRASTRUCTURE, "MetaCluster", name, {
    infrastructureRefs: providers.map(({ clusterKind }) => reference(INFRASTRUCTURE, clusterKind)),
  });
  const references = (group: WorkerGroup): { bootstrap: object; infrastructureRef: object } => ({
    bootstrap: { configRef: reference(BOOTSTRAP, "KubeadmConfigTemplate", `${name}-${group.name}`) },
    infrastructureRef: reference(
      INFRASTRUCTURE,
      WORKER_PROVIDERS[group.provider].templateKind,
      `${name}-${group.name}`,
    ),
  });
  const templates = (group: WorkerGroup): Unstructured[] => {
    const own = `${name}-${group.name}`;
    const { templateKind, machineSpec, nodeRegistration } = WORKER_PROVIDERS[group.provider];
    return [
      object(BOOTSTRAP, "KubeadmConfigTemplate", own, {
        // A spec that says nothing is refused, as are empty parts of one.
        template: {
          spec:
            nodeRegistration === undefined ? { format: "cloud-config" } : { joinConfiguration: { nodeRegistration } },
        },
      }),
      object(INFRASTRUCTURE, templateKind, own, { template: { spec: machineSpec(group.select, group.settings) } }),
    ];
  };
  const deployment = (group: WorkerGroup): Unstructured => {
    const own = `${name}-${group.name}`;
    const selected = { "capstan.dev/worker-group": own };
    return object(CORE, "MachineDeployment", own, {
      clusterName: name,
      replicas: group.replicas,
      selector: { matchLabels: selected },
      template: {
        metadata: { labels: selected },
        spec: { clusterName: name, version: plan.version, ...references(group) },
      },
    });
  };
  const pool = ({ name: poolName, replicas, strategy }: PoolPlan): Unstructured =>
    object(POOLS, "WorkerPool", `${name}-${poolName}`, {
      clusterName: name,
      replicas,
      strategy,
      template: { spec: { version: plan.version } },
      members: plan.workers.map((group) => ({ name: group.name, ...group.share, ...references(group) })),
    });
  // Hosts in memory forget their cluster when the program ends: machines whose nodes are gone are replaced after the next start. A host
  // that is only silent is left to people.
  const replaceLost = object(CORE, "MachineHealthCheck", name, {
    clusterName: name,
    selector: { matchLabels: { "cluster.x-k8s.io/cluster-name": name } },
    checks: { nodeStartupTimeoutSeconds: 0 },
  });
  const forgetful = plan.placement === "Embedded" && plan.workers.some(({ provider }) => provider !== "memory");
  return [
    cluster,
    ...(providers.length > 1 ? [meta] : []),
    ...providers.map(({ clusterKind, clusterSpec }) => object(INFRASTRUCTURE, clusterKind, name, clusterSpec)),
    object(CONTROL_PLANE, "HostedControlPlane", name, {
      version: plan.version,
      ...(plan.replicas === undefined ? {} : { replicas: plan.replicas }),
      ...(plan.endpoint === undefined ? {} : { controlPlaneEndpoint: plan.endpoint }),
      ...(plan.placement === undefined ? {} : { placement: { type: plan.placement } }),
    }),
    ...(plan.pool === undefined
      ? plan.workers.flatMap((group) => [...templates(group), deployment(group)])
      : [...plan.workers.flatMap(templates), pool(plan.pool)]),
    ...(forgetful ? [replaceLost] : []),
  ];
}
