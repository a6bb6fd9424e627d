export { type Binaries, binariesIn, installedVersions, kubernetesDir } from "./binaries.ts";
export { installKubernetes, installNodePrograms, listKubernetes, removeKubernetes } from "./install.ts";
