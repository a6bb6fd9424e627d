import { type ComponentContext, renderFlags } from "./context.ts";
import { featureGateFlags } from "./settings.ts";

/** Returns the command line of kube-scheduler. */
export function kubeSchedulerArguments(context: ComponentContext): string[] {
  return renderFlags(
    [
      ["bind-address", context.healthAddress ?? "127.0.0.1"],
      ["secure-port", String(context.ports.scheduler)],
      ["kubeconfig", "$FILES/scheduler.conf"],
      ["authentication-kubeconfig", "$FILES/scheduler.conf"],
      ["authorization-kubeconfig", "$FILES/scheduler.conf"],
      ["leader-elect", String(context.leaderElect ?? false)],
      ["profiling", "false"],
      ...featureGateFlags(context.spec.scheduler?.featureGates),
    ],
    context.spec.scheduler?.extraArgs,
  );
}

/** Files that kube-scheduler needs, relative to `$FILES`. */
export const KUBE_SCHEDULER_FILES = ["scheduler.conf", "scheduler.crt", "scheduler.key"];
