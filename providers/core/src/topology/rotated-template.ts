import { isObject, ownerReference, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  CLUSTER_NAME_LABEL,
  type Cluster,
  type ContractObject,
} from "@capstan/capi";
import { CONTENT_ANNOTATION, TOPOLOGY_OWNED_LABEL } from "./constants.ts";
import { derivedName, digestOf } from "./names.ts";

/** Everything that a cluster's own copy of a template is created from. */
export interface RotatedTemplateInput {
  cluster: Cluster;
  /** The class's template after patches. */
  template: ContractObject;
  /** Prefix of the name. */
  prefix: string;
  /** The template in use now. */
  current: ContractObject | undefined;
  labels?: Record<string, string>;
}

/**
 * Returns the cluster's own copy of a template. Templates are immutable: different content gets a new name, derived from the content, which
 * triggers a rollout of whatever references it.
 */
export function rotatedTemplate({ cluster, template, prefix, current, labels }: RotatedTemplateInput): Unstructured {
  const spec = template["spec"];
  const digest = digestOf(template.apiVersion, template.kind, spec);
  const name =
    current !== undefined && isSame(current, template, digest)
      ? (current.metadata.name ?? "")
      : derivedName("{{ .prefix }}-{{ .random }}", { prefix }, cluster.metadata.uid, template.kind, digest);
  return {
    apiVersion: template.apiVersion,
    kind: template.kind,
    metadata: {
      name,
      namespace: cluster.metadata.namespace ?? "",
      labels: { ...labels, [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "", [TOPOLOGY_OWNED_LABEL]: "" },
      annotations: { ...clonedFrom(template), [CONTENT_ANNOTATION]: digest },
      ownerReferences: [ownerReference(cluster)],
    },
    spec,
  };
}

/** Returns the annotations that name the template of an object. */
export function clonedFrom(template: ContractObject): Record<string, string> {
  return {
    [CLONED_FROM_NAME_ANNOTATION]: template.metadata.name ?? "",
    [CLONED_FROM_GROUP_KIND_ANNOTATION]: `${template.kind}.${parseGroupVersion(template.apiVersion).group}`,
  };
}

/** A template made by another controller has no digest: it stays if it has all that is wanted. */
function isSame(current: ContractObject, template: ContractObject, digest: string): boolean {
  if (current.kind !== template.kind) return false;
  const known = current.metadata.annotations?.[CONTENT_ANNOTATION];
  return known === undefined ? covers(current["spec"], template["spec"]) : known === digest;
}

function covers(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, i) => covers(live[i], item));
  if (isObject(wanted)) return isObject(live) && Object.keys(wanted).every((key) => covers(live[key], wanted[key]));
  return live === wanted;
}
