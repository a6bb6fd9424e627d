import { type Clock, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  type ContractObject,
  type ContractReference,
  field,
  type GivenVariables,
  type MachineDeployment,
  type MachineHealthCheck,
  type MachinePool,
  problemText,
  resolveVariables,
  type VariableDefinition,
  type VariableValues,
} from "@capstan/capi";
import { type Blueprint, type CurrentState, type Template, TopologyProblem } from "./blueprint.ts";
import { clusterBuiltins, controlPlaneBuiltins, workerBuiltins } from "./builtin-variables.ts";
import { TOPOLOGY_DEPLOYMENT_LABEL, TOPOLOGY_OWNED_LABEL } from "./constants.ts";
import { controlledObject, controlPlaneObject, mergedMetadata, referenceTo } from "./desired-control-plane.ts";
import {
  type DeploymentTopology,
  desiredDeployment,
  desiredHealthCheck,
  desiredPool,
  type PoolTopology,
} from "./desired-workers.ts";
import { derivedName } from "./names.ts";
import { type Holder, patchTemplate } from "./patches.ts";
import { clonedFrom, rotatedTemplate } from "./rotated-template.ts";
import type { VersionPlan } from "./versions.ts";

/** Desired state of a MachineDeployment or MachinePool and its templates. */
export interface DesiredWorker {
  object: MachineDeployment | MachinePool;
  bootstrap: Unstructured;
  infrastructure: Unstructured;
  healthCheck: MachineHealthCheck | undefined;
}

/** Desired state of all objects of a topology. */
export interface DesiredState {
  infrastructure: Unstructured;
  controlPlaneMachine: Unstructured | undefined;
  controlPlane: Unstructured;
  controlPlaneHealthCheck: MachineHealthCheck | undefined;
  workers: DesiredWorker[];
}

/** Everything that the desired state is computed from. */
export interface DesiredStateInput {
  blueprint: Blueprint;
  current: CurrentState;
  versions: VersionPlan;
  clock: Clock;
  /** Reads a template that is in use. */
  live(template: Template, name: string | undefined): ContractObject | undefined;
}

/** Computes the objects of a topology from class, variables and patches. Pure; throws TopologyProblem for errors that users have to fix. */
export async function desiredState(input: DesiredStateInput): Promise<DesiredState> {
  const { blueprint, current, versions } = input;
  const { topology, cluster, class: clusterClass } = blueprint;
  keptKind(cluster.spec?.infrastructureRef, blueprint.infrastructure, "spec.infrastructure.templateRef");
  keptKind(cluster.spec?.controlPlaneRef, blueprint.controlPlane, "spec.controlPlane.templateRef");
  const definitions = clusterClass.spec.variables ?? [];
  const values = resolved(definitions, topology.variables, "spec.topology.variables");
  const builtin = clusterBuiltins(cluster, topology);
  const patched = patcher(input);
  const uid = cluster.metadata.uid;
  const naming = { cluster: { name: cluster.metadata.name } };

  const infrastructureName =
    cluster.spec?.infrastructureRef?.name ??
    named(
      clusterClass.spec.infrastructure.naming?.template ?? "{{ .cluster.name }}-{{ .random }}",
      naming,
      uid,
      "infrastructure",
    );
  const infrastructure = controlledObject(
    blueprint,
    await patched(blueprint.infrastructure, { type: "infrastructureCluster" }, { ...values, builtin }),
    infrastructureName,
  );

  const ofClass = clusterClass.spec.controlPlane;
  const controlPlaneName =
    cluster.spec?.controlPlaneRef?.name ??
    named(ofClass.naming?.template ?? "{{ .cluster.name }}-{{ .random }}", naming, uid, "control-plane");
  const metadata = mergedMetadata(ofClass.metadata, topology.controlPlane?.metadata);
  const machineName = currentMachineTemplate(current);
  const overrides = resolved(
    definitions,
    topology.controlPlane?.variables?.overrides,
    "spec.topology.controlPlane.variables.overrides",
    true,
  );
  const variables = {
    ...values,
    ...overrides,
    builtin: {
      ...builtin,
      ...controlPlaneBuiltins(
        {
          name: controlPlaneName,
          version: versions.controlPlane,
          replicas: topology.controlPlane?.replicas,
          machineTemplate: machineName,
        },
        metadata,
      ),
    },
  };
  const machine =
    blueprint.controlPlaneMachine === undefined
      ? undefined
      : rotatedTemplate({
          cluster,
          template: await patched(blueprint.controlPlaneMachine, { type: "controlPlane" }, variables),
          prefix: cluster.metadata.name ?? "",
          current: input.live(blueprint.controlPlaneMachine, machineName),
        });
  const made = controlledObject(
    blueprint,
    await patched(blueprint.controlPlane, { type: "controlPlane" }, variables),
    controlPlaneName,
    metadata,
  );
  const workers: DesiredWorker[] = [];
  for (const one of topology.workers?.machineDeployments ?? [])
    workers.push(...(await deployment(one, input, values, builtin)));
  for (const one of topology.workers?.machinePools ?? []) workers.push(...(await pool(one, input, values, builtin)));
  return {
    infrastructure,
    controlPlaneMachine: machine,
    controlPlane: controlPlaneObject(blueprint, made, blueprint.controlPlane.contract, versions.controlPlane, machine),
    controlPlaneHealthCheck: desiredHealthCheck(
      blueprint,
      controlPlaneName,
      { [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "", [CONTROL_PLANE_LABEL]: "" },
      ofClass.healthCheck,
      topology.controlPlane?.healthCheck,
    ),
    workers,
  };
}

/** A cluster that moved to a class of other kinds would lose the objects it has; the API refuses that too. */
function keptKind(current: ContractReference | undefined, { object: template }: Template, path: string): void {
  const next = { group: parseGroupVersion(template.apiVersion).group, kind: template.kind.replace(/Template$/, "") };
  if (current === undefined || (current.kind === next.kind && current.apiGroup === next.group)) return;
  throw new TopologyProblem(
    `${path} of the ClusterClass creates a ${next.kind}.${next.group}, but the Cluster has a ${current.kind}.${current.apiGroup}: use a class with the same kinds in spec.topology.classRef`,
  );
}

/** Values with their defaults. The API refuses bad ones, but the class may have come or changed after the Cluster. */
function resolved(
  definitions: readonly VariableDefinition[],
  given: GivenVariables | undefined,
  path: string,
  override = false,
): VariableValues {
  const { values, problems } = resolveVariables(definitions, given ?? [], path, { override });
  if (problems.length > 0) throw new TopologyProblem(problems.map(problemText).join("\n"));
  return values;
}

function named(template: string, values: Record<string, unknown>, ...seed: unknown[]): string {
  try {
    return derivedName(template, values, ...seed);
  } catch (error) {
    throw new TopologyProblem(error instanceof Error ? error.message : String(error));
  }
}

type Patcher = (template: Template, holder: Holder, variables: VariableValues) => Promise<ContractObject>;

function patcher({ blueprint, clock }: DesiredStateInput): Patcher {
  return async (template, holder, variables) => {
    try {
      return await patchTemplate(template.object, holder, blueprint.class.spec.patches ?? [], variables, clock);
    } catch (error) {
      throw new TopologyProblem(error instanceof Error ? error.message : String(error));
    }
  };
}

function currentMachineTemplate(current: CurrentState): string | undefined {
  const machineTemplate = field(current.controlPlane?.object, "spec", "machineTemplate");
  const name =
    field(machineTemplate, "spec", "infrastructureRef", "name") ?? field(machineTemplate, "infrastructureRef", "name");
  return typeof name === "string" ? name : undefined;
}

async function deployment(
  topology: DeploymentTopology,
  input: DesiredStateInput,
  values: VariableValues,
  builtin: Record<string, unknown>,
): Promise<DesiredWorker[]> {
  const { blueprint, current, versions } = input;
  const version = versions.workers.get(topology.name);
  if (version === undefined) return [];
  const found = blueprint.deployments.get(topology.class);
  if (found === undefined) throw noClass("MachineDeployment", topology, blueprint);
  const existing = current.deployments.get(topology.name);
  const clusterName = blueprint.cluster.metadata.name ?? "";
  const name =
    existing?.metadata.name ?? workerName("machineDeployment", topology, found.class.naming?.template, blueprint);
  const variables = workerVariables("machineDeployment", topology, { name, version, existing, input, values, builtin });
  const own = async (template: Template, reference: ContractReference | undefined): Promise<Unstructured> =>
    rotatedTemplate({
      cluster: blueprint.cluster,
      template: await patcher(input)(template, { type: "machineDeployment", class: topology.class }, variables),
      prefix: `${clusterName}-${topology.name}`,
      current: input.live(template, reference?.name),
      labels: { [TOPOLOGY_DEPLOYMENT_LABEL]: topology.name },
    });
  const before = existing?.spec.template.spec;
  const bootstrap = await own(found.bootstrap, before?.bootstrap.configRef);
  const infrastructure = await own(found.infrastructure, before?.infrastructureRef);
  const parts = { name, version, bootstrap: referenceTo(bootstrap), infrastructure: referenceTo(infrastructure) };
  const matchLabels = { [TOPOLOGY_OWNED_LABEL]: "", [TOPOLOGY_DEPLOYMENT_LABEL]: topology.name };
  return [
    {
      object: desiredDeployment(blueprint, found.class, topology, parts),
      bootstrap,
      infrastructure,
      healthCheck: desiredHealthCheck(blueprint, name, matchLabels, found.class.healthCheck, topology.healthCheck),
    },
  ];
}

async function pool(
  topology: PoolTopology,
  input: DesiredStateInput,
  values: VariableValues,
  builtin: Record<string, unknown>,
): Promise<DesiredWorker[]> {
  const { blueprint, current, versions } = input;
  const version = versions.workers.get(topology.name);
  if (version === undefined) return [];
  const found = blueprint.pools.get(topology.class);
  if (found === undefined) throw noClass("MachinePool", topology, blueprint);
  const existing = current.pools.get(topology.name);
  const name = existing?.metadata.name ?? workerName("machinePool", topology, found.class.naming?.template, blueprint);
  const variables = workerVariables("machinePool", topology, { name, version, existing, input, values, builtin });
  // A pool's objects are its own from the first to the last day: they change in place, under the pool's name.
  const own = async (template: Template): Promise<Unstructured> => {
    const patched = await patcher(input)(template, { type: "machinePool", class: topology.class }, variables);
    const object = controlledObject(blueprint, patched, name, { annotations: clonedFrom(patched) });
    const { ownerReferences: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  };
  const bootstrap = await own(found.bootstrap);
  const infrastructure = await own(found.infrastructure);
  const parts = { name, version, bootstrap: referenceTo(bootstrap), infrastructure: referenceTo(infrastructure) };
  return [
    {
      object: desiredPool(blueprint, found.class, topology, parts),
      bootstrap,
      infrastructure,
      healthCheck: undefined,
    },
  ];
}

function noClass(kind: string, topology: { class: string; name: string }, { class: one }: Blueprint): TopologyProblem {
  return new TopologyProblem(
    `spec.topology.workers: ${kind} class ${topology.class} of ${topology.name} not found in ClusterClass ${one.metadata.namespace}/${one.metadata.name}`,
  );
}

function workerName(
  type: "machineDeployment" | "machinePool",
  topology: { name: string },
  template: string | undefined,
  { cluster }: Blueprint,
): string {
  const values = { cluster: { name: cluster.metadata.name }, [type]: { topologyName: topology.name } };
  const fallback = `{{ .cluster.name }}-{{ .${type}.topologyName }}-{{ .random }}`;
  return named(template ?? fallback, values, cluster.metadata.uid, type, topology.name);
}

function workerVariables(
  type: "machineDeployment" | "machinePool",
  topology: DeploymentTopology | PoolTopology,
  of: {
    name: string;
    version: string;
    existing: MachineDeployment | MachinePool | undefined;
    input: DesiredStateInput;
    values: VariableValues;
    builtin: Record<string, unknown>;
  },
): VariableValues {
  const definitions = of.input.blueprint.class.spec.variables ?? [];
  const path = `spec.topology.workers.${type}s[${topology.name}].variables.overrides`;
  const overrides = resolved(definitions, topology.variables?.overrides, path, true);
  const worker = {
    name: of.name,
    topologyName: topology.name,
    class: topology.class,
    version: of.version,
    replicas: topology.replicas,
  };
  const own = workerBuiltins(type, worker, topology.metadata ?? {}, of.existing);
  return { ...of.values, ...overrides, builtin: { ...of.builtin, ...own } };
}
