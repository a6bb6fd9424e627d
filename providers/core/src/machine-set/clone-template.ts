import { deepCopy, isObject, type OwnerReference, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  CLUSTER_NAME_LABEL,
  type ContractObject,
  type ContractReference,
  field,
} from "@capstan/capi";

const SUFFIX = "Template";

export interface CloneOptions {
  name: string;
  namespace: string;
  clusterName: string;
  owner: OwnerReference;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
}

/** The kind of the objects that a template makes: `FooTemplate` makes `Foo`. */
export function clonedKind(templateKind: string): string {
  return templateKind.endsWith(SUFFIX) ? templateKind.slice(0, -SUFFIX.length) : templateKind;
}

/** The reference to an object made from a template. */
export function clonedReference(template: ContractReference, name: string): ContractReference {
  return { apiGroup: template.apiGroup, kind: clonedKind(template.kind), name };
}

/** The object a template describes: upstream's GenerateTemplate (§2.5 of the reference). Throws when there is no spec.template. */
export function cloneTemplate(template: ContractObject, options: CloneOptions): Unstructured {
  const inner = field(template, "spec", "template");
  if (!isObject(inner))
    throw new Error(`${template.kind} ${template.metadata.name} has no spec.template: nothing can be made from it`);
  const { metadata, ...body } = deepCopy(inner) as { metadata?: Unstructured["metadata"] } & Record<string, unknown>;
  const { group } = parseGroupVersion(template.apiVersion);
  return {
    ...body,
    apiVersion: template.apiVersion,
    kind: clonedKind(template.kind),
    metadata: {
      name: options.name,
      namespace: options.namespace,
      labels: { ...metadata?.labels, ...options.labels, [CLUSTER_NAME_LABEL]: options.clusterName },
      annotations: {
        ...metadata?.annotations,
        ...options.annotations,
        [CLONED_FROM_NAME_ANNOTATION]: template.metadata.name ?? "",
        [CLONED_FROM_GROUP_KIND_ANNOTATION]: group === "" ? template.kind : `${template.kind}.${group}`,
      },
      ownerReferences: [options.owner],
    },
  };
}
