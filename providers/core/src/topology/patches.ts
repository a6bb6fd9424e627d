import { applyJsonPatch, parseYaml } from "@capstan/apimachinery";
import { type ClusterClass, type ContractObject, renderTemplate, type VariableValues } from "@capstan/capi";
import { variableAt } from "./variables.ts";

type Patch = NonNullable<ClusterClass["spec"]["patches"]>[number];
type Definition = NonNullable<Patch["definitions"]>[number];
type JsonPatch = Definition["jsonPatches"][number];

/** Where in a cluster a template is used. */
export type Holder =
  | { type: "infrastructureCluster" }
  | { type: "controlPlane" }
  | { type: "machineDeployment"; class: string }
  | { type: "machinePool"; class: string };

/** A template as the class's patches make it for one use; throws with the patch's name when one cannot be applied. */
export function patchTemplate(
  template: ContractObject,
  holder: Holder,
  patches: readonly Patch[],
  variables: VariableValues,
): ContractObject {
  let current = template;
  for (const patch of patches) {
    try {
      const matching = (patch.definitions ?? []).filter(({ selector }) => selects(selector, template, holder));
      if (patch.external !== undefined)
        throw new Error("it comes from an extension, which is not supported: write it with definitions");
      if (matching.length === 0 || !isEnabled(patch.enabledIf, variables)) continue;
      for (const { jsonPatches } of matching)
        current = applyJsonPatch(
          current,
          jsonPatches.map((operation) => concrete(operation, variables)),
        ) as ContractObject;
    } catch (error) {
      throw new Error(`patch ${patch.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return current;
}

function selects(selector: Definition["selector"], template: ContractObject, holder: Holder): boolean {
  if (selector.apiVersion !== template.apiVersion || selector.kind !== template.kind) return false;
  const match = selector.matchResources;
  if (holder.type === "infrastructureCluster") return match.infrastructureCluster === true;
  if (holder.type === "controlPlane") return match.controlPlane === true;
  const names =
    holder.type === "machineDeployment" ? match.machineDeploymentClass?.names : match.machinePoolClass?.names;
  return (names ?? []).some((name) => matchesName(name, holder.class));
}

/** One star at the beginning or the end stands for anything. */
function matchesName(pattern: string, name: string): boolean {
  if (pattern === "*" || pattern === name) return true;
  if (pattern.startsWith("*")) return name.endsWith(pattern.slice(1));
  return pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));
}

function isEnabled(condition: string | undefined, variables: VariableValues): boolean {
  if (condition === undefined || condition === "") return true;
  return parseYaml(renderTemplate(condition, variables)) === true;
}

function concrete(operation: JsonPatch, variables: VariableValues): object {
  const { op, path } = operation;
  if (!path.startsWith("/spec") && !path.startsWith("/metadata"))
    throw new Error(`${path} must begin with /spec or /metadata`);
  return op === "remove" ? { op, path } : { op, path, value: valueOf(operation, variables) };
}

function valueOf({ value, valueFrom, path }: JsonPatch, variables: VariableValues): unknown {
  if (valueFrom?.variable !== undefined) return variableAt(variables, valueFrom.variable);
  if (valueFrom?.template !== undefined) return parseYaml(renderTemplate(valueFrom.template, variables)) ?? null;
  if (value === undefined) throw new Error(`${path} has neither value nor valueFrom`);
  return value;
}
