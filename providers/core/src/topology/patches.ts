import { applyJsonPatch, type Clock } from "@capstan/apimachinery";
import { readForeignYaml, yieldToEventLoop } from "@capstan/apimachinery/foreign";
import {
  type ClusterClass,
  type ContractObject,
  renderTemplate,
  TemplateBudget,
  type VariableValues,
} from "@capstan/capi";
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

/** As much as a template renders. */
const MAX_VALUE_BYTES = 1024 * 1024;
/** Work after which everybody else has a turn: some milliseconds. */
const WORK_AT_ONCE = 500_000;

/** Reads what templates render: documents that users wrote. */
class Rendering {
  readonly #clock: Clock;
  #used = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async value(template: string, variables: VariableValues): Promise<unknown> {
    const budget = new TemplateBudget();
    const text = renderTemplate(template, variables, budget);
    this.#used += budget.used;
    if (this.#used > WORK_AT_ONCE) {
      await yieldToEventLoop();
      this.#used = 0;
    }
    return await readForeignYaml(text, { clock: this.#clock, maxBytes: MAX_VALUE_BYTES });
  }
}

/** Applies the patches of a class to a template; throws with the name of the patch if one cannot be applied. */
export async function patchTemplate(
  template: ContractObject,
  holder: Holder,
  patches: readonly Patch[],
  variables: VariableValues,
  clock: Clock,
): Promise<ContractObject> {
  const rendering = new Rendering(clock);
  let current = template;
  for (const patch of patches) {
    try {
      const matching = (patch.definitions ?? []).filter(({ selector }) => selects(selector, template, holder));
      if (patch.external !== undefined) throw new Error("external patches are not supported: use definitions");
      if (matching.length === 0 || !(await isEnabled(patch.enabledIf, variables, rendering))) continue;
      for (const { jsonPatches } of matching) {
        const operations: object[] = [];
        for (const operation of jsonPatches) operations.push(await concrete(operation, variables, rendering));
        current = applyJsonPatch(current, operations) as ContractObject;
      }
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

async function isEnabled(
  condition: string | undefined,
  variables: VariableValues,
  rendering: Rendering,
): Promise<boolean> {
  if (condition === undefined || condition === "") return true;
  return (await rendering.value(condition, variables)) === true;
}

async function concrete(operation: JsonPatch, variables: VariableValues, rendering: Rendering): Promise<object> {
  const { op, path } = operation;
  if (!path.startsWith("/spec") && !path.startsWith("/metadata"))
    throw new Error(`${path} must start with /spec or /metadata`);
  return op === "remove" ? { op, path } : { op, path, value: await valueOf(operation, variables, rendering) };
}

async function valueOf(
  { value, valueFrom, path }: JsonPatch,
  variables: VariableValues,
  rendering: Rendering,
): Promise<unknown> {
  if (valueFrom?.variable !== undefined) return variableAt(variables, valueFrom.variable);
  if (valueFrom?.template !== undefined) return (await rendering.value(valueFrom.template, variables)) ?? null;
  if (value === undefined) throw new Error(`${path} has neither value nor valueFrom`);
  return value;
}
