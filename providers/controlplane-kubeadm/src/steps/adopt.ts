import { addOwnerReference, controllerOf, ownerReference, removeOwnerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, KubeadmConfig, KubeadmControlPlane, type Machine, Secret } from "@capstan/capi";
import { writeChanges } from "@capstan/runtime";
import semver from "semver";
import type { Blocker } from "../findings.ts";
import { REASONS } from "../own-reasons.ts";
import { configOf, type OwnedScope } from "../scope.ts";

/** Takes over control plane Machines without an owner, and the Secrets that were made with them. Returns why that is not possible. */
export async function adoptMachines(scope: OwnedScope, machines: readonly Machine[]): Promise<Blocker | undefined> {
  const { object, context } = scope;
  for (const machine of machines) {
    const problem = adoptionProblem(object, machine);
    if (problem === undefined) continue;
    context.recorder.event(object, "Warning", REASONS.adoptionFailed, "AdoptMachine", problem);
    return { reason: REASONS.adoptionFailed, message: problem };
  }
  // Read from the server: an object that is being deleted has just given its Machines up.
  const live = await context.client.get(KubeadmControlPlane, {
    namespace: scope.key.namespace,
    name: object.metadata.name ?? "",
  });
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return undefined;
  for (const machine of machines) {
    await adoptSecrets(scope, machine);
    await labelParts(scope, machine);
    const ownerReferences = [
      ...addOwnerReference(machine.metadata.ownerReferences, ownerReference(object, { controller: true })),
    ];
    await writeChanges(context.client, machine, { ...machine, metadata: { ...machine.metadata, ownerReferences } });
    context.recorder.event(
      object,
      "Normal",
      "SuccessfulAdopt",
      "AdoptMachine",
      `Adopted Machine ${machine.metadata.name}`,
    );
  }
  return undefined;
}

function adoptionProblem({ spec }: KubeadmControlPlane, { metadata, spec: machine }: Machine): string | undefined {
  const { configRef } = machine.bootstrap;
  const who = `Machine ${metadata.name}`;
  if (configRef?.kind !== KubeadmConfig.kind)
    return `Could not adopt ${who}: its spec.bootstrap.configRef is no KubeadmConfig. Remove its label cluster.x-k8s.io/control-plane, or delete it`;
  const [own, wanted] = [semver.parse(machine.version ?? ""), semver.parse(spec.version)];
  if (own === null || wanted === null) return undefined;
  if (own.major === wanted.major && Math.abs(own.minor - wanted.minor) <= 1) return undefined;
  return `Could not adopt ${who}: its version (${machine.version}) is outside supported +/- one minor version skew from KubeadmControlPlane's (${spec.version}). Set spec.version to one within it, and upgrade then`;
}

/** Objects of a Machine that was created by a control plane have its labels from the start. */
async function labelParts(scope: OwnedScope, machine: Machine): Promise<void> {
  const { plan, infrastructure, context } = scope;
  const labels = Object.fromEntries(Object.entries(plan.labels).filter(([name]) => plan.fixedLabels.has(name)));
  for (const object of [configOf(scope, machine), infrastructure.existing(machine.spec.infrastructureRef.name)])
    if (object !== undefined) await context.client.patch(object, { metadata: { labels } });
}

/** The bootstrap provider made the authorities for a stand-alone Machine; its own data stays with the KubeadmConfig. */
async function adoptSecrets({ object, key, context }: OwnedScope, { spec }: Machine): Promise<void> {
  const name = spec.bootstrap.configRef?.name ?? "";
  const config = await context.client.get(KubeadmConfig, { namespace: key.namespace, name });
  if (config === undefined) return;
  const labelSelector = `${CLUSTER_NAME_LABEL}=${key.name}`;
  for (const secret of context.cache.list(Secret, { namespace: key.namespace, labelSelector })) {
    const owner = controllerOf(secret);
    if (owner?.kind !== KubeadmConfig.kind || owner.name !== name) continue;
    if (secret.metadata.name === config.status?.dataSecretName) continue;
    const rest = removeOwnerReference(secret.metadata.ownerReferences, owner);
    const ownerReferences = [...addOwnerReference(rest, ownerReference(object, { controller: true }))];
    await writeChanges(context.client, secret, { ...secret, metadata: { ...secret.metadata, ownerReferences } });
  }
}
