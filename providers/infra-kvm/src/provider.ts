import type { Provider, ProviderDeps } from "@capstan/capi";
import type { SimulatedControlPlanes } from "@capstan/workloads";
import { kvmDescription } from "./description.ts";
import { KVM_KINDS } from "./kinds/all.ts";

/** Dependencies of the provider of virtual machines. */
export interface KvmDeps extends ProviderDeps {
  /** The control planes whose machines are simulated in this process. */
  readonly planes: SimulatedControlPlanes;
}

/** The infrastructure provider whose machines are virtual machines of QEMU. */
export const kvm: Provider<KvmDeps> = {
  ...kvmDescription,
  kinds: KVM_KINDS,
  load: async (deps) => (await import("./running.ts")).loadKvm(deps),
};
