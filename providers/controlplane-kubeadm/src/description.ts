import type { ProviderDescription } from "@capstan/capi";
import { kubeadmControlPlaneRules } from "./why-rules.ts";

/** What people see of control planes on Machines. */
export const kubeadmControlPlaneDescription: ProviderDescription = {
  name: "controlplane-kubeadm",
  title: "kubeadm control planes",
  controlPlane: {
    name: "kubeadm",
    summary: "on machines of any provider, each set up by kubeadm",
    onMachines: true,
    kind: "KubeadmControlPlane",
    spec: ({ version }) => ({ version }),
  },
  why: kubeadmControlPlaneRules,
};
