import { type InfrastructureProvider, infrastructureProvider, type ProviderDeps } from "@capstan/capi";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { byohDescription } from "./description.ts";
import { hostCertificateController } from "./enrolment/approve-hosts.ts";
import { bootstrapKubeconfigController } from "./enrolment/bootstrap-kubeconfig.ts";
import { byoHostController } from "./host/controller.ts";
import { installerController } from "./installer/controller.ts";
import { BYOH_KINDS } from "./kinds/all.ts";
import { ByoCluster, ByoClusterTemplate } from "./kinds/byo-cluster.ts";
import { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
import { hostCapacity } from "./machine/capacity.ts";
import { Hosts } from "./machine/hosts.ts";
import { ensureMachine, pauseMachine, removeMachine } from "./machine.ts";
import { simulatedAgents } from "./simulation/simulated-agents.ts";

/** Creates the provider's running part; with `simulation`, it also simulates the agents of hosts that request it. */
export function byohProvider(
  simulation?: Pick<ProviderDeps, "clock" | "random" | "log" | "connect" | "workload">,
): InfrastructureProvider {
  const hosts = new Hosts();
  const provider = infrastructureProvider({
    ...byohDescription,
    cluster: { kind: ByoCluster, template: ByoClusterTemplate, ensure: ensureCluster, remove: removeCluster },
    machine: {
      kind: ByoMachine,
      template: ByoMachineTemplate,
      ensure: ensureMachine,
      remove: removeMachine,
      paused: pauseMachine,
      watch: (backend, changed) => backend.subscribe(changed),
    },
    backend: hosts,
  });
  return {
    ...provider,
    kinds: BYOH_KINDS,
    capacity: hostCapacity(hosts),
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
      ...(simulation === undefined ? [] : [simulatedAgents(simulation)]),
    ],
  };
}
