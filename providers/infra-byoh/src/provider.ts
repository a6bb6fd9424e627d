import type { Provider } from "@capstan/capi";
import { byohDescription } from "./description.ts";
import { BYOH_KINDS } from "./kinds/all.ts";

const CERTIFICATES = "certificates.k8s.io";

/** The infrastructure provider for bring-your-own hosts. */
export const byoh: Provider = {
  ...byohDescription,
  kinds: BYOH_KINDS,
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
  load: async (deps) => (await import("./running.ts")).byohProvider(deps),
};
