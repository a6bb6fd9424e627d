export {
  addBootstrapKubeadmIndexes,
  type BootstrapKubeadmDeps,
  bootstrapKubeadmControllers,
} from "./kubeadm-config.controller.ts";
