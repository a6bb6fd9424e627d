import { domainToShrink, oldest } from "./failure-domains.ts";
import type { ControlPlaneView, MachineView } from "./view.ts";

/**
 * The Machine to remove when there are too many, or to replace in a rollout: first those that a person marked for deletion, then outdated
 * ones with unhealthy components, then outdated ones, then any. Of these, the oldest in the fullest failure domain.
 */
export function machineToRemove(view: ControlPlaneView, outdated: readonly MachineView[]): MachineView | undefined {
  const marked = (machines: readonly MachineView[]): MachineView[] => machines.filter((each) => each.deleteAnnotation);
  const broken = outdated.filter((machine) => hasTrouble(view, machine));
  const choices = [marked(outdated), marked(view.machines), broken, outdated, view.machines];
  const eligible = choices.find(({ length }) => length > 0) ?? [];
  const domain = domainToShrink(view, eligible);
  return oldest(eligible.filter(({ failureDomain }) => (failureDomain ?? "") === (domain ?? "")));
}

/** A Machine that is just starting is in no trouble: its components are unknown, or not there yet, or its member is a learner. */
function hasTrouble({ etcdManaged, youngNodes }: ControlPlaneView, { components, nodeName }: MachineView): boolean {
  const { apiServer, controllerManager, scheduler, etcdPod, etcdMember } = components;
  const judged = [apiServer, controllerManager, scheduler, ...(etcdManaged ? [etcdPod, etcdMember] : [])];
  const young = nodeName !== undefined && youngNodes.has(nodeName);
  return judged.some(({ status, reason }) => status === "False" && (!young || reason === FAILED));
}

/** A container has exited, or keeps exiting. */
const FAILED = "Failed";
