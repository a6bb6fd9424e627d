import {
  type AnyKind,
  type InfrastructureProvider,
  infrastructureProvider,
  type Provider,
  type ProviderDeps,
} from "@capstan/capi";
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
import { simulatedAgents } from "./simulation/simulated-agents.ts";

const CERTIFICATES = "certificates.k8s.io";

/** The infrastructure provider for bring-your-own hosts. */
export const byoh: Provider = {
  name: "byoh",
  title: "Own hosts",
  kinds: [
    ByoHost,
    ByoCluster,
    ByoClusterTemplate,
    ByoMachine,
    ByoMachineTemplate,
    K8sInstallerConfig,
    K8sInstallerConfigTemplate,
    BootstrapKubeconfig,
  ] as readonly AnyKind[],
  access: {
    // status.bootstrapKubeconfigData lets a host enrol.
    credentials: ["bootstrapkubeconfigs"],
    inventory: ["byohosts", "bootstrapkubeconfigs"],
    rules: [
      // Each agent gets a role that names its host alone, and its certificate request is approved.
      {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["roles", "rolebindings"],
        verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
      },
      {
        apiGroups: [CERTIFICATES],
        resources: ["certificatesigningrequests"],
        verbs: ["get", "list", "watch", "delete"],
      },
      { apiGroups: [CERTIFICATES], resources: ["certificatesigningrequests/approval"], verbs: ["patch", "update"] },
      {
        apiGroups: [CERTIFICATES],
        resources: ["signers"],
        resourceNames: ["kubernetes.io/kube-apiserver-client"],
        verbs: ["approve"],
      },
    ],
  },
  load: (deps) => byohProvider(deps),
};

/** Creates the provider's running part; with `simulation`, it also simulates the agents of hosts that request it. */
export function byohProvider(
  simulation?: Pick<ProviderDeps, "clock" | "random" | "log" | "connect" | "workload">,
): InfrastructureProvider {
  const hosts = new Hosts();
  const provider = infrastructureProvider({
    name: byoh.name,
    title: byoh.title,
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
    ...provider,
    kinds: byoh.kinds,
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
