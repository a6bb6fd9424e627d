import { ownerReference } from "@capstan/apimachinery";
import { MACHINE_FINALIZER } from "../contract/constants.ts";
import { Machine } from "../kinds/machine.ts";
import { bootstrapPart, type MachinePlan, type NewMachine } from "./machine-plan.ts";

/** Computes the desired state of a new Machine. */
export function newMachine(plan: MachinePlan, { name, failureDomain, annotations }: NewMachine): Machine {
  const part = bootstrapPart(plan);
  return machineOf(
    plan,
    name,
    { ...plan.annotations, ...annotations },
    {
      bootstrap: part === undefined ? (plan.bootstrap as Bootstrap) : { configRef: part.reference(name) },
      infrastructureRef: plan.infrastructure.reference(name),
      version: plan.settings.version,
      failureDomain: failureDomain ?? plan.settings.failureDomain,
    },
  );
}

/** Computes the desired state of an existing Machine. Its references, version and failure domain are kept: they cannot change in place. */
export function syncedMachine(plan: MachinePlan, machine: Machine): Machine {
  const { bootstrap, infrastructureRef, version, failureDomain } = machine.spec;
  return machineOf(
    plan,
    machine.metadata.name ?? "",
    { ...plan.annotations, ...plan.kept?.(machine) },
    {
      // Next to a reference the name of the data Secret belongs to the Machine controller.
      bootstrap: bootstrap.configRef === undefined ? bootstrap : { configRef: bootstrap.configRef },
      infrastructureRef,
      version,
      failureDomain: plan.appliesFailureDomain ? failureDomain : undefined,
    },
  );
}

type Bootstrap = Machine["spec"]["bootstrap"];

interface Unchanging {
  bootstrap: Bootstrap;
  infrastructureRef: Machine["spec"]["infrastructureRef"];
  version: string | undefined;
  failureDomain: string | undefined;
}

/** The order of fields and the absence of empty ones are part of the applied bytes: see requests.golden.txt of MachineSets. */
function machineOf(
  { owner, clusterName, labels, settings }: MachinePlan,
  name: string,
  annotations: Record<string, string>,
  { bootstrap, infrastructureRef, version, failureDomain }: Unchanging,
): Machine {
  const { minReadySeconds, readinessGates, deletion, taints } = settings;
  const { namespace } = owner.metadata;
  return {
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    metadata: {
      name,
      namespace,
      labels: { ...labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      finalizers: [MACHINE_FINALIZER],
      ownerReferences: [ownerReference(owner, { controller: true })],
    },
    spec: {
      clusterName,
      bootstrap,
      infrastructureRef,
      version,
      failureDomain,
      minReadySeconds,
      readinessGates,
      deletion,
      taints,
    },
  };
}
