import {
  deepCopy,
  formatDuration,
  isObject,
  ownerReference,
  parseGroupVersion,
  type Unstructured,
} from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  type ContractObject,
  type ContractReference,
  type ContractVersion,
  objectFromTemplate,
} from "@capstan/capi";
import { type Blueprint, TopologyProblem } from "./blueprint.ts";
import { TOPOLOGY_OWNED_LABEL } from "./constants.ts";

/** Returns an object that the Cluster controls, created from a patched template. */
export function controlledObject(
  { cluster }: Blueprint,
  template: ContractObject,
  name: string,
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> } = {},
): Unstructured {
  const object = objectFromTemplate({
    template,
    name,
    namespace: cluster.metadata.namespace ?? "",
    clusterName: cluster.metadata.name ?? "",
    labels: { ...metadata.labels, [TOPOLOGY_OWNED_LABEL]: "" },
    annotations: metadata.annotations,
    owner: ownerReference(cluster, { controller: true }),
  });
  if (object === undefined)
    throw new TopologyProblem(
      `${template.kind} ${template.metadata.name} has no spec.template: nothing can be created from it`,
    );
  return object;
}

/** Merges the metadata of the class and the topology; the topology takes precedence. */
export function mergedMetadata(
  ofClass: { labels?: Record<string, string>; annotations?: Record<string, string> } | undefined,
  ofTopology: { labels?: Record<string, string>; annotations?: Record<string, string> } | undefined,
): { labels: Record<string, string>; annotations: Record<string, string> } {
  return {
    labels: { ...ofClass?.labels, ...ofTopology?.labels },
    annotations: { ...ofClass?.annotations, ...ofTopology?.annotations },
  };
}

/** Sets the fields of the control plane that the topology decides: version, replicas, and the template and settings of machines. */
export function controlPlaneObject(
  blueprint: Blueprint,
  made: Unstructured,
  contract: ContractVersion,
  version: string,
  machineTemplate: Unstructured | undefined,
): Unstructured {
  const { topology, class: clusterClass, cluster } = blueprint;
  const ofTopology = topology.controlPlane;
  const ofClass = clusterClass.spec.controlPlane;
  const object = deepCopy(made) as Unstructured & { spec?: Record<string, unknown> };
  const spec: Record<string, unknown> = { ...object.spec, version };
  if (ofTopology?.replicas !== undefined) spec["replicas"] = ofTopology.replicas;
  const after = ofTopology?.rollout?.after;
  if (after !== undefined && contract === "v1beta1") spec["rolloutAfter"] = after;
  else if (after !== undefined) spec["rollout"] = { ...(isObject(spec["rollout"]) ? spec["rollout"] : {}), after };
  if (machineTemplate !== undefined) {
    const before = isObject(spec["machineTemplate"]) ? spec["machineTemplate"] : {};
    const metadata = mergedMetadata(ofClass.metadata, ofTopology?.metadata);
    const inner = isObject(before["metadata"]) ? before["metadata"] : {};
    const deletion = merged(ofClass.deletion, ofTopology?.deletion);
    const settings = {
      ...optionally("readinessGates", ofTopology?.readinessGates ?? ofClass.readinessGates),
      ...optionally("taints", ofTopology?.taints ?? ofClass.taints),
    };
    const machine = isObject(before["spec"]) ? before["spec"] : {};
    spec["machineTemplate"] = {
      ...before,
      metadata: {
        labels: {
          ...(isObject(inner["labels"]) ? inner["labels"] : {}),
          ...metadata.labels,
          [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "",
          [TOPOLOGY_OWNED_LABEL]: "",
        },
        annotations: { ...(isObject(inner["annotations"]) ? inner["annotations"] : {}), ...metadata.annotations },
      },
      // The two contracts have all of this in different places and forms.
      ...(contract === "v1beta2"
        ? {
            spec: {
              ...machine,
              ...settings,
              ...optionally("deletion", deletion),
              infrastructureRef: referenceTo(machineTemplate),
            },
          }
        : { ...settings, ...timeouts(deletion), infrastructureRef: objectReference(machineTemplate) }),
    };
  }
  return { ...object, spec };
}

/** Returns a reference to an object by group, kind and name. */
export function referenceTo(object: Unstructured): ContractReference {
  return { apiGroup: parseGroupVersion(object.apiVersion).group, kind: object.kind, name: object.metadata.name ?? "" };
}

/** The same for the older contract. */
function objectReference({ apiVersion, kind, metadata: { namespace, name } }: Unstructured): object {
  return { apiVersion, kind, name, ...optionally("namespace", namespace) };
}

/** How long deletion may take, as the older contract says it. */
function timeouts(deletion: object | undefined): Record<string, string> {
  const seconds = Object.entries(deletion ?? {}).filter(([key]) => key.endsWith("TimeoutSeconds"));
  return Object.fromEntries(
    seconds.map(([key, value]) => [key.replace(/Seconds$/, ""), formatDuration(Number(value) * 1000)]),
  );
}

/** Returns an object with the field, or an empty one if the value is undefined. */
export function optionally<K extends string, V>(name: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [key in K]?: V };
}

/** Merges two objects; fields of the second take precedence. Undefined if both are. */
export function merged<T extends object>(a: T | undefined, b: T | undefined): T | undefined {
  return a === undefined && b === undefined ? undefined : ({ ...a, ...b } as T);
}
