export { type Binaries, binariesIn, installedVersions, kubernetesDir } from "./binaries.ts";
export { installKubernetes, listKubernetes, removeKubernetes } from "./install.ts";
