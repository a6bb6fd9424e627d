import { type AnyKindDefinition, type InfrastructureProvider, infrastructureProvider } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { hostCertificateController } from "./approve-hosts.ts";
import { bootstrapKubeconfigController } from "./bootstrap-kubeconfig.ts";
import { hostCapacity } from "./capacity.ts";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { byoHostController } from "./host-controller.ts";
import { Hosts } from "./hosts.ts";
import { installerController } from "./installer-controller.ts";
import { BootstrapKubeconfig } from "./kinds/bootstrap-kubeconfig.ts";
import { ByoCluster, ByoClusterTemplate } from "./kinds/byo-cluster.ts";
import { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
import { K8sInstallerConfig, K8sInstallerConfigTemplate } from "./kinds/k8s-installer-config.ts";
import { ensureMachine, removeMachine } from "./machine.ts";

/** Own hosts as the manager loads them. */
export function byohProvider(): InfrastructureProvider {
  const hosts = new Hosts();
  const provider = infrastructureProvider({
    name: "byoh",
    cluster: { kind: ByoCluster, template: ByoClusterTemplate, ensure: ensureCluster, remove: removeCluster },
    machine: {
      kind: ByoMachine,
      template: ByoMachineTemplate,
      ensure: ensureMachine,
      remove: removeMachine,
      watch: (backend, changed) => backend.subscribe(changed),
    },
    backend: hosts,
  });
  return {
    name: provider.name,
    capacity: hostCapacity(hosts),
    kinds: [
      ...provider.kinds,
      ...([
        ByoHost,
        K8sInstallerConfig,
        K8sInstallerConfigTemplate,
        BootstrapKubeconfig,
      ] as unknown as AnyKindDefinition[]),
    ],
    addIndexes: (cache) => {
      provider.addIndexes(cache);
      hosts.bind(cache);
    },
    controllers: (deps) => [
      ...provider.controllers(deps),
      byoHostController(hosts, deps.workload),
      hostCertificateController(hosts),
      installerController(),
      bootstrapKubeconfigController(),
    ],
  };
}
