import { ApiError } from "@capstan/apimachinery";
import { failed, noCapacity, type Outcome, trouble } from "@capstan/capi";
import { asHostProblem, type HostProblem } from "@capstan/workloads";

/** A host cluster may answer again, or its kubeconfig be renewed, without an event that says so. */
const AGAIN_MS = 30_000;
const PERMISSIONS =
  "Pods, Secrets, Services, PersistentVolumeClaims, Deployments, StatefulSets, PodDisruptionBudgets and NetworkPolicies in the namespace, to read Namespaces, Nodes, Events and ServiceCIDRs, and to create PriorityClasses";

/** Returns what to report for an error of the outer cluster; undefined if retrying is the only option. */
export function hostOutcome(error: unknown, namespace: string): Outcome | undefined {
  if (error instanceof ApiError && error.code === 403) {
    // The reason is in the message only.
    if (error.message.includes("exceeded quota")) return noCapacity(error.message);
    if (/RuntimeClass "[^"]*" not found/.test(error.message))
      return failed(
        "HostClusterRefuses",
        error.message,
        "Create that RuntimeClass, or set another one in a new template",
      );
    if (error.message.includes("violates PodSecurity")) return podSecurity(namespace, error.message);
  }
  const problem = asHostProblem(error, PERMISSIONS);
  return problem === undefined ? undefined : problemOutcome(problem);
}

function problemOutcome({ reason, message }: HostProblem): Outcome {
  return trouble(reason, message, AGAIN_MS);
}

/** Returns the outcome for a namespace that does not allow privileged pods. */
export function podSecurity(namespace: string, message: string): Outcome {
  return failed(
    "PodSecurityForbids",
    message,
    `Label the namespace: kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged; or set podTemplate.spec.hostUsers to false or runtimeClassName in a new template`,
  );
}
