import type { Provider, ProviderDeps } from "@capstan/capi";
import { kubernetesDescription } from "./description.ts";
import { KUBERNETES_KINDS } from "./kinds/all.ts";

const ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];

/** Dependencies of the provider whose machines are pods. */
export interface KubernetesDeps extends ProviderDeps {
  /** Whether the management cluster runs pods; the embedded one does not. */
  readonly runsPods?: boolean | undefined;
}

/** The infrastructure provider whose machines are pods of an outer cluster. */
export const kubernetes: Provider<KubernetesDeps> = {
  ...kubernetesDescription,
  kinds: KUBERNETES_KINDS,
  access: {
    rules: [
      { apiGroups: [""], resources: ["pods", "persistentvolumeclaims", "services", "secrets"], verbs: ALL_VERBS },
      { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list"] },
      { apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
      { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["list"] },
      { apiGroups: ["networking.k8s.io"], resources: ["servicecidrs"], verbs: ["list"] },
      { apiGroups: ["scheduling.k8s.io"], resources: ["priorityclasses"], verbs: ["create", "get"] },
      { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ALL_VERBS },
      // Worker machines on an outer node that is drained are replaced.
      { apiGroups: ["cluster.x-k8s.io"], resources: ["machines"], verbs: ["delete", "patch"] },
      { apiGroups: ["cluster.x-k8s.io"], resources: ["machinesets"], verbs: ["get"] },
    ],
  },
  load: async (deps) => (await import("./running.ts")).loadKubernetes(deps),
};
