import { kubernetesBin } from "../real-kubernetes/index.ts";
import { ensureHostPrograms, ensureImages, ensureRootfs, requireRoot, sweep, timed } from "./harness/index.ts";

/** Once before all end-to-end tests: what they share is built if it is not there, what aborted runs left is removed. */
export async function setup(): Promise<void> {
  requireRoot();
  await timed("programs on this machine", ensureHostPrograms);
  const rootfs = await timed("root file system of the nodes", () => ensureRootfs());
  await timed("images", () => ensureImages(kubernetesBin(), rootfs));
  await sweep();
}

/** Once after all of them. */
export async function teardown(): Promise<void> {
  await sweep();
}
