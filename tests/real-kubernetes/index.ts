export { clientCertificate } from "./certificates.ts";
export { Component, type ComponentSpec } from "./component.ts";
export { freePorts } from "./free-ports.ts";
export { type JoinOptions, prepareForJoin } from "./join.ts";
export { cacheDir, defaultKubernetesVersion, kubernetesBin, previousKubernetesVersion } from "./kubernetes-bin.ts";
export { type CommandOptions, type CommandResult, mustRun, runCommand } from "./run-command.ts";
export {
  type KubeApiserverOptions,
  type RealComponents,
  type RealKubernetes,
  startKubeApiserver,
} from "./start-kube-apiserver.ts";
