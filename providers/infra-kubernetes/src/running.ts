import { type InfrastructureProvider, infrastructureProvider, type LoadedProvider } from "@capstan/capi";
import { compileScript } from "@capstan/userdata";
import { Backend } from "./backend.ts";
import { ensureCluster, removeCluster } from "./cluster/ensure.ts";
import { kubernetesDescription } from "./description.ts";
import { KUBERNETES_KINDS } from "./kinds/all.ts";
import { KubernetesCluster, KubernetesClusterTemplate } from "./kinds/kubernetes-cluster.ts";
import { KubernetesMachine, KubernetesMachineTemplate } from "./kinds/kubernetes-machine.ts";
import { ensureMachine } from "./machine/ensure.ts";
import { removeMachine } from "./machine/remove.ts";
import { addPoolIndexes, machinePoolController } from "./machine-pool/controller.ts";
import type { KubernetesDeps } from "./provider.ts";
import { templateCapacityController } from "./template-capacity.ts";

/** Creates the provider's running part over a backend. */
export function kubernetesProvider(backend: Backend): InfrastructureProvider {
  const provider = infrastructureProvider({
    ...kubernetesDescription,
    cluster: {
      kind: KubernetesCluster,
      template: KubernetesClusterTemplate,
      ensure: ensureCluster,
      remove: removeCluster,
      watch: (backend, changed) => backend.watchClusters(changed),
    },
    machine: {
      kind: KubernetesMachine,
      template: KubernetesMachineTemplate,
      ensure: ensureMachine,
      remove: removeMachine,
      watch: (backend, changed) => backend.watchMachines(changed),
    },
    backend,
  });
  return {
    ...provider,
    kinds: KUBERNETES_KINDS,
    addIndexes: (cache) => {
      provider.addIndexes(cache);
      backend.bind(cache);
      addPoolIndexes(cache);
    },
    controllers: (deps) => [...provider.controllers(deps), templateCapacityController(), machinePoolController()],
    close: () => backend.close(),
  };
}

/** Creates the provider's running part for a manager. */
export function loadKubernetes({ clock, random, log, gate, runsPods }: KubernetesDeps): LoadedProvider {
  return kubernetesProvider(
    new Backend({ clock, random, log, gate, runsPods: runsPods === true, compile: compileScript }),
  );
}
