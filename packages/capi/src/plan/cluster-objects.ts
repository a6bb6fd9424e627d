import type { Unstructured } from "@capstan/apimachinery";
import type { CombinedInfrastructure, ProviderDescription } from "../sdk/description.ts";
import { type ClusterPlan, machineGroups, type PoolPlan, type WorkerGroup } from "./cluster-plan.ts";
import { combiningOption, controlPlaneOption, workerOption } from "./worker-options.ts";

const CORE = "cluster.x-k8s.io";
const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";
const BOOTSTRAP = "bootstrap.cluster.x-k8s.io";
const POOLS = "capstan.dev";
const CONTROL_PLANE = "controlplane.cluster.x-k8s.io";

/** Holds the plan that a cluster was created from, so that an interrupted `create` can continue. */
export const PLAN_ANNOTATION = "capstan.dev/created-from";

/** All objects of a planned cluster, the Cluster first: as soon as it exists, `describe`, `delete` and `create` find it. */
export function clusterObjects(plan: ClusterPlan, known: readonly ProviderDescription[]): Unstructured[] {
  const { name } = plan;
  const providers = [...new Set(machineGroups(plan).map(({ provider }) => provider))].map((provider) =>
    workerOption(provider, known),
  );
  const controlPlane = controlPlaneOption(known, plan.controlPlane?.type);
  const machines = plan.controlPlane?.machines;
  const [first] = providers;
  // One provider's infrastructure can be named directly; several need an object that combines them.
  const combining = providers.length > 1 ? combiningOption(known) : undefined;
  const infrastructureKind = combining?.clusterKind ?? first?.clusterKind;
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
  const reference = (group: string, kind: string, ownName = name): CombinedInfrastructure => ({
    apiGroup: group,
    kind,
    name: ownName,
  });
  const cluster = object(CORE, "Cluster", name, {
    clusterNetwork: { services: { cidrBlocks: plan.serviceCidrs }, pods: { cidrBlocks: plan.podCidrs } },
    ...(infrastructureKind === undefined ? {} : { infrastructureRef: reference(INFRASTRUCTURE, infrastructureKind) }),
    controlPlaneRef: reference(CONTROL_PLANE, controlPlane.kind),
    // A hosted control plane reserves its own endpoint; Machines need one that exists before them.
    ...(machines === undefined || plan.endpoint === undefined ? {} : { controlPlaneEndpoint: plan.endpoint }),
  });
  if (Object.keys(plan.labels).length > 0) cluster.metadata.labels = plan.labels;
  cluster.metadata.annotations = { [PLAN_ANNOTATION]: JSON.stringify(plan) };
  const combined = providers.map(
    ({ clusterKind }): CombinedInfrastructure => ({
      ...reference(INFRASTRUCTURE, clusterKind),
      ...(machines !== undefined && workerOption(machines.provider, known).clusterKind === clusterKind
        ? { controlPlane: true }
        : {}),
    }),
  );
  const references = (group: WorkerGroup): { bootstrap: object; infrastructureRef: object } => ({
    bootstrap: { configRef: reference(BOOTSTRAP, "KubeadmConfigTemplate", `${name}-${group.name}`) },
    infrastructureRef: reference(
      INFRASTRUCTURE,
      workerOption(group.provider, known).templateKind,
      `${name}-${group.name}`,
    ),
  });
  const templates = (group: WorkerGroup): Unstructured[] => {
    const own = `${name}-${group.name}`;
    const { nodeRegistration } = workerOption(group.provider, known);
    return [
      object(BOOTSTRAP, "KubeadmConfigTemplate", own, {
        // An empty spec is rejected, as are empty parts of one.
        template: {
          spec:
            nodeRegistration === undefined ? { format: "cloud-config" } : { joinConfiguration: { nodeRegistration } },
        },
      }),
      machineTemplate(group),
    ];
  };
  const machineTemplate = (group: WorkerGroup): Unstructured => {
    const { templateKind, machineSpec } = workerOption(group.provider, known);
    return object(INFRASTRUCTURE, templateKind, `${name}-${group.name}`, { template: { spec: machineSpec(group) } });
  };
  const onMachines = (group: WorkerGroup): object => {
    const { nodeRegistration } = workerOption(group.provider, known);
    const { infrastructureRef } = references(group);
    return {
      replicas: group.replicas,
      machineTemplate: { spec: { infrastructureRef } },
      ...(nodeRegistration === undefined
        ? {}
        : {
            kubeadmConfigSpec: { initConfiguration: { nodeRegistration }, joinConfiguration: { nodeRegistration } },
          }),
    };
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
  // Hosts in memory forget their cluster when the program exits: machines without nodes are replaced after the next start. A host
  // that is only silent is left to the user.
  const replaceLost = object(CORE, "MachineHealthCheck", name, {
    clusterName: name,
    selector: { matchLabels: { "cluster.x-k8s.io/cluster-name": name } },
    checks: { nodeStartupTimeoutSeconds: 0 },
  });
  const forgetful =
    plan.placement !== undefined &&
    plan.placement === controlPlane.inMemoryPlacement &&
    providers.some(({ inMemory }) => inMemory !== true);
  return [
    cluster,
    ...(combining === undefined
      ? []
      : [object(INFRASTRUCTURE, combining.clusterKind, name, combining.clusterSpec(combined))]),
    ...providers.map(({ clusterKind, clusterSpec }) => object(INFRASTRUCTURE, clusterKind, name, clusterSpec)),
    ...(machines === undefined ? [] : [machineTemplate(machines)]),
    object(CONTROL_PLANE, controlPlane.kind, name, {
      ...controlPlane.spec(plan),
      ...(machines === undefined ? {} : onMachines(machines)),
    }),
    ...(plan.pool === undefined
      ? plan.workers.flatMap((group) => [...templates(group), deployment(group)])
      : [...plan.workers.flatMap(templates), pool(plan.pool)]),
    ...(forgetful ? [replaceLost] : []),
  ];
}
