export { S3Store } from "./backup/s3-store.ts";
export { controlPlaneOf, hostedControlPlaneController } from "./controller.ts";
export { TokenSigner } from "./join/token-signer.ts";
export { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
export { HostedControlPlaneTemplate } from "./kinds/hosted-control-plane-template.ts";
export { EmbeddedPlacement } from "./placement/embedded.ts";
export type { Placement } from "./placement/placement.ts";
export { type Binaries, ProcessPlacement, stopRank } from "./placement/process.ts";
export type { HostedControlPlanes, PlacementType } from "./planes.ts";
