export { ensureHostPrograms, requireRoot } from "./host.ts";
export { changesOf, type HostState, stateOfHost } from "./host-state.ts";
export {
  busyboxReference,
  controlPlaneImages,
  ensureImages,
  type Image,
  type ImageName,
  type Images,
  otherEtcdImages,
  workerImages,
} from "./images.ts";
export { ensureKeepalived, ensureKubeVip } from "./keepalived.ts";
export { Lab, type LabOptions, leftovers, sweep } from "./lab.ts";
export { Node, type NodeSpec } from "./node.ts";
export { ensureNodeImage } from "./node-image.ts";
export { ensureRootfs, type RootfsOptions } from "./rootfs.ts";
export { eventually, sleep, timed } from "./timing.ts";
export { applyUserData } from "./user-data.ts";
