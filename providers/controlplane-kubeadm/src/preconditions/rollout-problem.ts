import { DROP_REMOVED_FLAGS_ANNOTATION, type KubeadmControlPlane } from "@capstan/capi";
import { refusedSettings, refusedText } from "@capstan/controlplane";

/** Why no Machine is created or replaced; waiting alone does not help. */
export interface RolloutProblem {
  readonly reason: "SettingsNotSupported" | "NotEnoughFreeHosts" | "KubeletTooOld" | "NodesNotKnown";
  readonly message: string;
}

/** What decides whether a rollout, or the first Machine, can succeed. */
export interface RolloutFacts {
  /** The control plane as `effectiveControlPlane` returns it. */
  readonly controlPlane: KubeadmControlPlane;
  /** Machines exist and some of them are to be replaced. */
  readonly replacing: boolean;
  /** The number of Machines that exist, those in deletion included. */
  readonly machines: number;
  /** How many Machines the infrastructure can provide now; undefined if its provider does not report that. */
  readonly free: number | undefined;
  /** Why the Nodes do not permit the version, as `nodesRefuse` reports it. */
  readonly skew: { readonly reason: string; readonly message: string } | undefined;
}

/** Explains why a rollout or the first Machine cannot succeed, and what to do; undefined if nothing speaks against it. */
export function rolloutProblem(facts: RolloutFacts): RolloutProblem | undefined {
  return (
    settingsProblem(facts.controlPlane) ?? (facts.replacing ? (skewProblem(facts) ?? hostProblem(facts)) : undefined)
  );
}

function settingsProblem({ metadata, spec }: KubeadmControlPlane): RolloutProblem | undefined {
  const refused = refusedSettings(spec.kubeadmConfigSpec ?? {}, spec.version);
  if (refused.length === 0) return undefined;
  const name = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
  return {
    reason: "SettingsNotSupported",
    message: `No Machine is created or replaced, because it would not start: ${refusedText(refused, "spec.kubeadmConfigSpec")}. Correct the settings of ${name}, or drop exactly these with the annotation ${DROP_REMOVED_FLAGS_ANNOTATION}: "true"`,
  };
}

function skewProblem({ skew }: RolloutFacts): RolloutProblem | undefined {
  if (skew === undefined) return undefined;
  const reason = skew.reason === "KubeletTooOld" ? "KubeletTooOld" : "NodesNotKnown";
  return { reason, message: `The rollout does not start: ${skew.message}` };
}

function hostProblem({ controlPlane, machines, free }: RolloutFacts): RolloutProblem | undefined {
  const { replicas = 1, rollout } = controlPlane.spec;
  const surge = Number(rollout?.strategy?.rollingUpdate?.maxSurge ?? 1);
  // Once the additional Machine exists, each replacement uses the host of the Machine before it.
  if (free === undefined || free > 0 || surge === 0 || machines > replicas) return undefined;
  const alternative =
    replicas >= 3
      ? ", or set spec.rollout.strategy.rollingUpdate.maxSurge to 0 to replace a Machine before its successor exists"
      : "";
  return {
    reason: "NotEnoughFreeHosts",
    message: `The rollout does not start: it needs 1 free host for the additional Machine, and there is none. Add a host that the infrastructure template accepts${alternative}`,
  };
}
