/** Bare metal as machines. */
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
