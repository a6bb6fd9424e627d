import { deepCopy, isObject, type OwnerReference, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import type { ContractObject } from "./builtin-kinds.ts";
import { CLONED_FROM_GROUP_KIND_ANNOTATION, CLONED_FROM_NAME_ANNOTATION, CLUSTER_NAME_LABEL } from "./constants.ts";
import { field } from "./fields.ts";

const SUFFIX = "Template";

/** How to make an object from a template of the contract. */
export interface FromTemplateInput {
  template: ContractObject;
  name: string;
  namespace: string;
  clusterName: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  owner?: OwnerReference;
}

/** `FooTemplate` → `Foo`; undefined for a kind that is no template. */
export function templatedKind(kind: string): string | undefined {
  return kind.endsWith(SUFFIX) && kind.length > SUFFIX.length ? kind.slice(0, -SUFFIX.length) : undefined;
}

/** Returns the kind of the objects that a template creates; for a kind that is no template, the kind itself. */
export function clonedKind(templateKind: string): string {
  return templatedKind(templateKind) ?? templateKind;
}

/** The object a template describes (`spec.template`), with the metadata that Cluster API gives to clones; undefined if it describes none. */
export function objectFromTemplate(input: FromTemplateInput): Unstructured | undefined {
  const { template } = input;
  const kind = templatedKind(template.kind);
  const body = field(template, "spec", "template");
  if (kind === undefined || !isObject(body)) return undefined;
  const {
    metadata,
    status: _status,
    ...rest
  } = deepCopy(body) as {
    metadata?: Record<string, Record<string, string> | undefined>;
    status?: unknown;
  };
  return {
    // First: a user who patches a template must not choose the kind of what the manager creates with its own permissions.
    ...rest,
    apiVersion: template.apiVersion,
    kind,
    metadata: {
      name: input.name,
      namespace: input.namespace,
      labels: { ...metadata?.["labels"], ...input.labels, [CLUSTER_NAME_LABEL]: input.clusterName },
      annotations: {
        ...metadata?.["annotations"],
        ...input.annotations,
        [CLONED_FROM_NAME_ANNOTATION]: template.metadata.name ?? "",
        [CLONED_FROM_GROUP_KIND_ANNOTATION]: `${template.kind}.${parseGroupVersion(template.apiVersion).group}`,
      },
      ...(input.owner === undefined ? {} : { ownerReferences: [input.owner] }),
    },
  };
}
