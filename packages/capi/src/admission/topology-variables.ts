import { deepEqual } from "@capstan/apimachinery";
import type { schema as clusterSchema } from "../kinds/cluster.ts";
import type { schema as classSchema } from "../kinds/cluster-class.ts";
import type { AdmissionProblem, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { type GivenVariables, resolveVariables, type VariableDefinition } from "../topology/variables.ts";

type ClusterClass = KindObject<Infer<typeof classSchema>>;
type Topology = NonNullable<KindObject<Infer<typeof clusterSchema>>["spec"]["topology"]>;
type Variables = NonNullable<Topology["variables"]>;

/** A holder of values in a topology. */
interface Part {
  path: string;
  given: GivenVariables | undefined;
  set(values: Variables): void;
}

/**
 * The definitions that values are checked against: the class's own, and with patches that discover more, those that its controller
 * has found. Undefined when they are not known yet.
 */
export function variableDefinitions({ metadata, spec, status }: ClusterClass): VariableDefinition[] | undefined {
  const discovers = spec.patches?.some((patch) => patch.external?.discoverVariablesExtension !== undefined) === true;
  if (!discovers) return spec.variables ?? [];
  const ready = status?.conditions?.find(({ type }) => type === "VariablesReady");
  if (status?.observedGeneration !== metadata.generation || ready?.status !== "True") return undefined;
  return (status?.variables ?? []).flatMap(({ name, definitions }) => {
    const [first] = definitions;
    return first === undefined ? [] : [{ name, ...first } as VariableDefinition];
  });
}

/** Fills defaults of the class into the values of a topology, as upstream's webhook does; leaves invalid values for validation. */
export function defaultVariables(topology: Topology, definitions: readonly VariableDefinition[]): void {
  for (const [index, { path, given, set }] of partsOf(topology).entries()) {
    const override = index > 0;
    if (override && given === undefined) continue;
    const { values, problems } = resolveVariables(definitions, given ?? [], path, { override });
    if (problems.length > 0) return;
    const complete = Object.entries(values).map(([name, value]) => ({ name, value }));
    if (complete.length > 0 && !deepEqual(complete, given)) set(complete as Variables);
  }
}

/** Rejects values that do not match the class. Unchanged values are not rejected, because the class may have changed since. */
export function topologyVariableProblems(
  topology: Topology,
  old: Topology | undefined,
  definitions: readonly VariableDefinition[] | undefined,
): AdmissionProblem[] {
  if (definitions === undefined || deepEqual(old, topology)) return [];
  const before = new Map(old === undefined ? [] : partsOf(old).map(({ path, given }) => [path, given]));
  return partsOf(topology).flatMap(({ path, given }, index) => {
    const options = { override: index > 0, old: before.get(path) };
    return resolveVariables(definitions, given ?? [], path, options).problems;
  });
}

/** The cluster's own values first, then those that parts override. */
function partsOf(topology: Topology): Part[] {
  const path = "spec.topology";
  const overriding = (part: { variables?: { overrides?: Variables } } | undefined, at: string): Part => ({
    path: `${at}.variables.overrides`,
    given: part?.variables?.overrides,
    set: (values) => {
      if (part?.variables !== undefined) part.variables.overrides = values;
    },
  });
  return [
    {
      path: `${path}.variables`,
      given: topology.variables,
      set: (values) => {
        topology.variables = values;
      },
    },
    overriding(topology.controlPlane, `${path}.controlPlane`),
    ...(topology.workers?.machineDeployments ?? []).map((one) =>
      overriding(one, `${path}.workers.machineDeployments[${one.name}]`),
    ),
    ...(topology.workers?.machinePools ?? []).map((one) =>
      overriding(one, `${path}.workers.machinePools[${one.name}]`),
    ),
  ];
}
