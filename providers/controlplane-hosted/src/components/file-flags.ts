/** The type of the file that each flag expects, for all flags that may refer to one of `files`. */
export const FILE_FLAGS: Readonly<
  Record<"apiServer" | "controllerManager" | "scheduler", Readonly<Record<string, string>>>
> = {
  apiServer: {
    "admission-control-config-file": "admission configuration",
    "allow-metric-labels-manifest": "map of metric labels",
    "audit-policy-file": "audit policy",
    "audit-webhook-config-file": "kubeconfig",
    "authentication-config": "authentication configuration",
    "authentication-token-webhook-config-file": "kubeconfig",
    "authorization-policy-file": "authorization policy",
    "authorization-webhook-config-file": "kubeconfig",
    "kubelet-certificate-authority": "certificates",
    "oidc-ca-file": "certificates",
    "tracing-config-file": "tracing configuration",
  },
  controllerManager: {
    "allow-metric-labels-manifest": "map of metric labels",
    "leader-migration-config": "leader migration configuration",
    "pv-recycler-pod-template-filepath-hostpath": "pod",
    "pv-recycler-pod-template-filepath-nfs": "pod",
  },
  scheduler: {
    "allow-metric-labels-manifest": "map of metric labels",
    config: "scheduler configuration",
  },
};
