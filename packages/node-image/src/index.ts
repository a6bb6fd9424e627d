export { buildNodeImage, type NodeImageOptions } from "./build.ts";
export { containerdConfig } from "./containerd-config.ts";
export { KUBEADM_FILES, REAL_KUBEADM } from "./contents.ts";
export { NodeImageError } from "./node-image-error.ts";
export { makeTree, TREE_INPUTS } from "./tree.ts";
