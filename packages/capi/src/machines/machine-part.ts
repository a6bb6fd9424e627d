import type { OwnerReference, Unstructured } from "@capstan/apimachinery";
import type { MapFunction, ReconcileContext } from "@capstan/runtime";
import type { ContractObject } from "../contract/builtin-kinds.ts";
import { clonedKind, objectFromTemplate } from "../contract/from-template.ts";
import { type Referenced, readReference, referenceText } from "../contract/referenced.ts";
import type { ContractReference } from "../contract/types.ts";
import { watchKind } from "../contract/watch-kind.ts";

/** What an object that a Machine references is created with. */
export interface NewPart {
  name: string;
  namespace: string;
  clusterName: string;
  owner: OwnerReference;
  labels: Record<string, string>;
}

/** One of the objects that each Machine of an owner references: its infrastructure machine or its bootstrap config. */
export interface MachinePart {
  /** Returns the reference of a new Machine. */
  reference(name: string): ContractReference;
  /** Returns the object of a name; undefined if it does not exist. */
  existing(name: string): ContractObject | undefined;
  /** Returns the object to create; undefined if the source describes none. Missing when there is no source to create it from. */
  describe: ((input: NewPart) => Unstructured | undefined) | undefined;
  /** Why no object can be created, or undefined. */
  problem: string | undefined;
}

/** A part whose objects are cloned from a template. */
export interface TemplatePart extends MachinePart {
  template: Referenced;
}

/**
 * Reads the template of a part and the kind of its clones. `map` names the requests for a template that changed; the Machine controller
 * follows the changes of clones.
 */
export async function templatePart(
  context: ReconcileContext,
  namespace: string,
  reference: ContractReference,
  map: MapFunction<ContractObject>,
): Promise<TemplatePart> {
  const template = await readReference(context, namespace, reference, map);
  const kind = clonedKind(reference.kind);
  const watched = await watchKind(context, { ...reference, kind }, () => []);
  const unreadable = "problem" in watched ? watched.problem : undefined;
  return {
    template,
    reference: (name) => ({ apiGroup: reference.apiGroup, kind, name }),
    existing: (name) => ("problem" in watched ? undefined : context.cache.get(watched.kind, { namespace, name })),
    describe:
      template.state === "found" ? (input) => objectFromTemplate({ template: template.object, ...input }) : undefined,
    problem: templateProblem(template) ?? unreadable,
  };
}

function templateProblem(template: Referenced): string | undefined {
  if (template.state === "unresolved") return template.message;
  if (template.state === "missing") return `${referenceText(template.reference)} does not exist`;
  if (template.state === "found" && template.object.spec?.["template"] === undefined)
    return `${referenceText(template.reference)} has no spec.template`;
  return undefined;
}
