import { isIPAddress } from "@capstan/controlplane";
import { minor } from "semver";
import { type ComponentContext, type Flag, renderFlags } from "./context.ts";
import { apiServerSettingFlags, ENCRYPTION_FILE } from "./settings.ts";

/** Returns the command line of kube-apiserver: kubeadm's flags, and those that a control plane without a node needs. */
export function kubeApiserverArguments(context: ComponentContext): string[] {
  const advertise = isIPAddress(context.endpoint.host) ? context.endpoint.host : context.bindAddress;
  const flags: Flag[] = [
    ["advertise-address", advertise],
    ["bind-address", context.bindAddress],
    ["secure-port", String(context.apiPort)],
    // Replicas and the successor during an upgrade listen next to each other; the kernel spreads connections over them.
    ["permit-port-sharing", "true"],
    ["allow-privileged", "true"],
    ["authorization-mode", "Node,RBAC"],
    ["enable-admission-plugins", "NodeRestriction"],
    ["enable-bootstrap-token-auth", "true"],
    // The built-in reconciler supports neither another port nor several addresses; this provider writes the endpoints.
    ["endpoint-reconciler-type", "none"],
    ["client-ca-file", "$FILES/ca.crt"],
    ["tls-cert-file", "$FILES/apiserver.crt"],
    ["tls-private-key-file", "$FILES/apiserver.key"],
    ["etcd-servers", context.etcd.map((member) => member.clientUrl).join(",")],
    ["etcd-cafile", "$FILES/etcd/ca.crt"],
    ["etcd-certfile", "$FILES/apiserver-etcd-client.crt"],
    ["etcd-keyfile", "$FILES/apiserver-etcd-client.key"],
    ["kubelet-client-certificate", "$FILES/apiserver-kubelet-client.crt"],
    ["kubelet-client-key", "$FILES/apiserver-kubelet-client.key"],
    ["kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname"],
    ["proxy-client-cert-file", "$FILES/front-proxy-client.crt"],
    ["proxy-client-key-file", "$FILES/front-proxy-client.key"],
    ["requestheader-client-ca-file", "$FILES/front-proxy-ca.crt"],
    ["requestheader-allowed-names", "front-proxy-client"],
    ["requestheader-extra-headers-prefix", "X-Remote-Extra-"],
    ["requestheader-group-headers", "X-Remote-Group"],
    ["requestheader-username-headers", "X-Remote-User"],
    ["service-account-issuer", `https://kubernetes.default.svc.${context.network.serviceDomain}`],
    ["service-account-key-file", "$FILES/sa.pub"],
    ["service-account-signing-key-file", "$FILES/sa.key"],
    ["service-cluster-ip-range", context.network.serviceCidrs.join(",")],
    ["profiling", "false"],
    // Without it a shutdown waits a minute for open watches.
    ["shutdown-watch-termination-grace-period", "2s"],
  ];
  // It would serve /var/log of the machine to a tenant's administrators. Versions that lack it or default to false need no flag.
  if (minor(context.version) < 35) flags.push(["enable-logs-handler", "false"]);
  if (context.drainSeconds !== undefined) flags.push(["shutdown-delay-duration", `${context.drainSeconds}s`]);
  // In a shared etcd it may not touch anything outside its prefix, and compaction would.
  if (context.etcdPrefix !== undefined)
    flags.push(["etcd-prefix", context.etcdPrefix], ["etcd-compaction-interval", "0s"]);
  if (context.egressSelectorFile !== undefined)
    flags.push(["egress-selector-config-file", `$FILES/${context.egressSelectorFile}`]);
  if (context.encrypted === true)
    flags.push(
      ["encryption-provider-config", `$FILES/${ENCRYPTION_FILE}`],
      ["encryption-provider-config-automatic-reload", "true"],
    );
  const settings = apiServerSettingFlags(context.spec.apiServer, context.auditLog ?? "-");
  const replaced = new Set(settings.map(([name]) => name));
  return renderFlags(
    [...flags.filter(([name]) => !replaced.has(name)), ...settings],
    context.spec.apiServer?.extraArgs,
  );
}

/** Files that kube-apiserver needs, relative to `$FILES`. */
export const KUBE_APISERVER_FILES = [
  "ca.crt",
  "apiserver.crt",
  "apiserver.key",
  "etcd/ca.crt",
  "apiserver-etcd-client.crt",
  "apiserver-etcd-client.key",
  "apiserver-kubelet-client.crt",
  "apiserver-kubelet-client.key",
  "front-proxy-ca.crt",
  "front-proxy-client.crt",
  "front-proxy-client.key",
  "sa.pub",
  "sa.key",
];
