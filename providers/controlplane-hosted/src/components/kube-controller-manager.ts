import { type ComponentContext, renderFlags } from "./context.ts";
import { featureGateFlags } from "./settings.ts";

/** Returns the command line of kube-controller-manager; `kubeadm join` requires its bootstrapsigner and tokencleaner. */
export function kubeControllerManagerArguments(context: ComponentContext): string[] {
  return renderFlags(
    [
      ["bind-address", context.healthAddress ?? "127.0.0.1"],
      ["secure-port", String(context.ports.controllerManager)],
      ["kubeconfig", "$FILES/controller-manager.conf"],
      ["authentication-kubeconfig", "$FILES/controller-manager.conf"],
      ["authorization-kubeconfig", "$FILES/controller-manager.conf"],
      ["client-ca-file", "$FILES/ca.crt"],
      ["requestheader-client-ca-file", "$FILES/front-proxy-ca.crt"],
      ["root-ca-file", "$FILES/ca.crt"],
      ["cluster-signing-cert-file", "$FILES/ca-signing.crt"],
      ["cluster-signing-key-file", "$FILES/ca-signing.key"],
      ["service-account-private-key-file", "$FILES/sa.key"],
      ["use-service-account-credentials", "true"],
      ["controllers", "*,bootstrapsigner,tokencleaner"],
      ["allocate-node-cidrs", "true"],
      ["cluster-cidr", context.network.podCidrs.join(",")],
      ["service-cluster-ip-range", context.network.serviceCidrs.join(",")],
      ["cluster-name", context.clusterName],
      ["leader-elect", String(context.leaderElect ?? false)],
      // Each of some forty controllers requests a token of its own at startup: at 20 requests per second that takes five
      // seconds, in which no node gets a certificate and kubelets start to back off.
      ["kube-api-qps", "100"],
      ["kube-api-burst", "200"],
      ["profiling", "false"],
      ...featureGateFlags(context.spec.controllerManager?.featureGates),
    ],
    context.spec.controllerManager?.extraArgs,
  );
}

/** Files that kube-controller-manager needs, relative to `$FILES`. */
export const KUBE_CONTROLLER_MANAGER_FILES = [
  "ca.crt",
  "ca-signing.crt",
  "ca-signing.key",
  "front-proxy-ca.crt",
  "sa.key",
  "controller-manager.conf",
  "controller-manager.crt",
  "controller-manager.key",
];
