/** Bare metal as machines. */
export { type BareMetalHostsOptions, bareMetalHosts } from "./host/provide.ts";
export {
  BareMetalHost,
  HOST_DETACHED_ANNOTATION,
  HOST_FINALIZER,
  HOST_HARDWARE_ANNOTATION,
  HOST_INSPECT_ANNOTATION,
  HOST_PAUSED_ANNOTATION,
  HOST_REBOOT_ANNOTATION,
  HOST_STATUS_ANNOTATION,
} from "./kinds/bare-metal-host.ts";
export { HARDWARE_DATA_FINALIZER, HardwareData } from "./kinds/hardware-data.ts";
export { Metal3IPAddress } from "./kinds/ip-address.ts";
export { IPClaim } from "./kinds/ip-claim.ts";
export { IPPool } from "./kinds/ip-pool.ts";
export { Metal3Cluster, Metal3ClusterTemplate } from "./kinds/metal3-cluster.ts";
export { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "./kinds/metal3-data.ts";
export { Metal3Machine, Metal3MachineTemplate } from "./kinds/metal3-machine.ts";
export { type Metal3Deps, metal3 } from "./provider.ts";
export { ImageChecks } from "./provisioner/image-check.ts";
export { type MemoryBmcOptions, MemoryBmcs } from "./provisioner/memory/memory-bmcs.ts";
export type { HostIdentity, ProvisionRequest, StepResult } from "./provisioner/provisioner.ts";
export { RedfishDriver, type RedfishOptions } from "./provisioner/redfish/redfish-driver.ts";
export { metal3Provider } from "./running.ts";
