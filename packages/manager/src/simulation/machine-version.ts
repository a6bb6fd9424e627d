import type { KubeObject } from "@capstan/apimachinery";
import { ownerMachine } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { ByoMachine } from "@capstan/infra-byoh";
import { BareMetalHost, Metal3Machine } from "@capstan/infra-metal3";
import type { Cache, ObjectKey } from "@capstan/runtime";

/** The Kubernetes version of the Machine that a ByoHost works for. */
export function byoMachineVersion({ metadata, spec }: ByoHost, cache: Cache): string | undefined {
  const machine = cache.get(ByoMachine, { namespace: metadata.namespace, name: spec?.machineRef?.name ?? "" });
  return versionOf(machine, cache);
}

/** The Kubernetes version of the Machine that a BareMetalHost works for. */
export function metalMachineVersion(host: ObjectKey, cache: Cache): string | undefined {
  const consumer = cache.get(BareMetalHost, host)?.spec.consumerRef?.name;
  return versionOf(cache.get(Metal3Machine, { namespace: host.namespace, name: consumer ?? "" }), cache);
}

function versionOf(machine: KubeObject | undefined, cache: Cache): string | undefined {
  return machine === undefined ? undefined : ownerMachine(cache, machine)?.spec.version;
}
