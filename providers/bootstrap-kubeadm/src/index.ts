export {
  addBootstrapKubeadmIndexes,
  type BootstrapKubeadmDeps,
  bootstrapKubeadmControllers,
} from "./kubeadm-config.controller.ts";
export { bootstrapKubeadm } from "./provider.ts";
