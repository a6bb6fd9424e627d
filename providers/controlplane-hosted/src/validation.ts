import { parseCron } from "@capstan/backup";
import { versionProblem } from "@capstan/capi";
import type { ClusterNetwork } from "@capstan/controlplane";
import { OWN_FILES } from "./components/own-files.ts";
import { extraArgumentProblem } from "./components/owned-flags.ts";
import { quantityProblem, settingsProblem } from "./components/settings.ts";
import type { HostedControlPlaneSpec } from "./kinds/hosted-control-plane.ts";
import { exposeProblem, rangesProblem } from "./network-problem.ts";
import type { PlacementType } from "./planes.ts";

/** A problem in the spec that the user has to fix before a control plane can run. */
export interface SpecProblem {
  reason: string;
  message: string;
}

/** Validates a control plane's spec and its Cluster's network; undefined if both are valid. */
export function specProblem(
  spec: HostedControlPlaneSpec,
  network: ClusterNetwork,
  placement: PlacementType,
): SpecProblem | undefined {
  const version = versionProblem(spec.version);
  if (version !== undefined) return { reason: "InvalidVersion", message: `spec.version: ${version}` };
  return (
    networkProblem(network, spec) ??
    argumentsProblem(spec) ??
    konnectivityProblem(spec, placement) ??
    sharedEtcdProblem(spec, placement)
  );
}

function networkProblem(network: ClusterNetwork, spec: HostedControlPlaneSpec): SpecProblem | undefined {
  const ranges = rangesProblem(network, spec);
  if (ranges !== undefined) return { reason: "InvalidNetwork", message: ranges };
  const expose = exposeProblem(spec);
  return expose === undefined ? undefined : { reason: "InvalidAddress", message: expose };
}

function konnectivityProblem(spec: HostedControlPlaneSpec, placement: PlacementType): SpecProblem | undefined {
  if (spec.addons?.konnectivity?.mode !== "On" || placement === "Pods") return undefined;
  return {
    reason: "InvalidAddon",
    message: `spec.addons.konnectivity.mode: placement ${placement} runs outside of the network of the nodes and does not support konnectivity; set Auto or Off`,
  };
}

/** Settings of an etcd process do not apply to an etcd that other control planes share. */
function sharedEtcdProblem({ etcd }: HostedControlPlaneSpec, placement: PlacementType): SpecProblem | undefined {
  if (etcd?.shared === undefined) return undefined;
  const refused = (message: string): SpecProblem => ({ reason: "InvalidArgument", message });
  if (placement !== "Process")
    return refused(
      `spec.etcd.shared: placement ${placement} does not support a shared etcd; remove it, or use Process`,
    );
  if ((etcd.replicas ?? 1) !== 1)
    return refused(`spec.etcd.replicas: a shared etcd has one member; set 1, or remove spec.etcd.shared`);
  const own = (["extraArgs", "resources", "defragment", "storage", "image"] as const).find(
    (field) => etcd[field] !== undefined,
  );
  if (own !== undefined)
    return refused(`spec.etcd.${own}: cannot be set for a shared etcd; remove it, or spec.etcd.shared`);
  return undefined;
}

function argumentsProblem(spec: HostedControlPlaneSpec): SpecProblem | undefined {
  const components = {
    apiServer: spec.apiServer,
    controllerManager: spec.controllerManager,
    scheduler: spec.scheduler,
  } as const;
  for (const [name, component] of Object.entries(components)) {
    const settings = settingsProblem(name as keyof typeof components, component);
    if (settings !== undefined) return { reason: "InvalidArgument", message: `spec.${name}.${settings}` };
    const files = (component?.files ?? []).map((file) => file.name);
    const own = files.find((file) => OWN_FILES.includes(file));
    if (own !== undefined)
      return {
        reason: "InvalidArgument",
        message: `spec.${name}.files: ${own} is a file of the control plane itself; choose another name`,
      };
    for (const argument of component?.extraArgs ?? []) {
      const problem = extraArgumentProblem(name as keyof typeof components, argument, files);
      if (problem !== undefined) return { reason: "InvalidArgument", message: `spec.${name}.extraArgs: ${problem}` };
    }
  }
  const amount = quantityProblem(spec.etcd?.resources);
  if (amount !== undefined) return { reason: "InvalidArgument", message: `spec.etcd.${amount}` };
  const schedule = spec.etcd?.defragment?.schedule;
  const wrong = schedule === undefined ? undefined : parseCron(schedule);
  if (typeof wrong === "string")
    return { reason: "InvalidSchedule", message: `spec.etcd.defragment.schedule: ${wrong}` };
  for (const argument of spec.etcd?.extraArgs ?? []) {
    const problem = extraArgumentProblem("etcd", argument, []);
    if (problem !== undefined) return { reason: "InvalidArgument", message: `spec.etcd.extraArgs: ${problem}` };
  }
  return undefined;
}
