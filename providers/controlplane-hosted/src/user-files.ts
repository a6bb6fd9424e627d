import { Secret, secretText } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { fileContentProblem } from "./file-contents.ts";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { ControlPlanePlan } from "./placement/placement.ts";

const COMPONENTS = ["apiServer", "controllerManager", "scheduler"] as const;

/** The contents of `spec.<component>.files`, from the object itself or from Secrets beside it; none that reaches out of `files`. */
export async function readUserFiles(
  object: HostedControlPlane,
  context: ReconcileContext,
): Promise<{ files: ControlPlanePlan["userFiles"] } | { problem: string }> {
  const files: ControlPlanePlan["userFiles"] = { apiServer: {}, controllerManager: {}, scheduler: {} };
  for (const component of COMPONENTS)
    for (const file of object.spec[component]?.files ?? []) {
      const source = file.contentFrom?.secret;
      if (source === undefined) {
        files[component][file.name] = file.content ?? "";
        continue;
      }
      const key = { namespace: object.metadata.namespace, name: source.name };
      const text = secretText(context.cache.get(Secret, key) ?? (await context.client.get(Secret, key)), source.key);
      if (text === undefined)
        return {
          problem: `spec.${component}.files: Secret ${source.name} has no key ${source.key}; create it or correct the name`,
        };
      files[component][file.name] = text;
    }
  for (const component of COMPONENTS) {
    const names = Object.keys(files[component]);
    for (const [name, text] of Object.entries(files[component])) {
      const problem = fileContentProblem(text, names);
      if (problem !== undefined) return { problem: `spec.${component}.files: ${name} ${problem}` };
    }
  }
  return { files };
}
