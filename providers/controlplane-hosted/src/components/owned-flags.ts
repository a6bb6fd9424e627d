/** Flags that decide about identity, storage and reachability: setting them would let a tenant out of its own walls. */
const OWNED: Record<string, ReadonlySet<string>> = {
  etcd: new Set([
    "name",
    "data-dir",
    "wal-dir",
    "config-file",
    "discovery",
    "initial-cluster",
    "initial-cluster-state",
    "initial-cluster-token",
    "quota-backend-bytes",
    "force-new-cluster",
    "client-cert-auth",
    "client-crl-file",
    "auto-tls",
    "enable-grpc-gateway",
    "log-outputs",
  ]),
  apiServer: new Set([
    "advertise-address",
    "bind-address",
    "secure-port",
    "permit-port-sharing",
    "permit-address-sharing",
    "cert-dir",
    "client-ca-file",
    "egress-selector-config-file",
    "enable-bootstrap-token-auth",
    "endpoint-reconciler-type",
    "etcd-servers",
    "etcd-servers-overrides",
    "etcd-prefix",
    "kubelet-client-certificate",
    "kubelet-client-key",
    "proxy-client-cert-file",
    "proxy-client-key-file",
    "requestheader-client-ca-file",
    "service-account-key-file",
    "service-account-signing-key-file",
    "service-cluster-ip-range",
    "token-auth-file",
    "tls-sni-cert-key",
    "audit-log-path",
    // spec.apiServer.admission sets them, and keeps NodeRestriction.
    "enable-admission-plugins",
    "disable-admission-plugins",
    "encryption-provider-config",
    "log-file",
    "log-dir",
  ]),
  controllerManager: new Set([
    "bind-address",
    "secure-port",
    "cert-dir",
    "kubeconfig",
    "authentication-kubeconfig",
    "authorization-kubeconfig",
    "master",
    "client-ca-file",
    "requestheader-client-ca-file",
    "root-ca-file",
    "service-account-private-key-file",
    "cluster-cidr",
    "service-cluster-ip-range",
    "cloud-config",
  ]),
  scheduler: new Set([
    "master",
    "bind-address",
    "secure-port",
    "cert-dir",
    "kubeconfig",
    "authentication-kubeconfig",
    "authorization-kubeconfig",
  ]),
};

/** Prefixes of flags that always name files or addresses of the placement. */
const OWNED_PREFIXES = [
  "tls-",
  "etcd-ca",
  "etcd-cert",
  "etcd-key",
  "cluster-signing-",
  "cert-file",
  "key-file",
  "trusted-",
  "peer-",
  "listen-",
  "advertise-",
  "initial-advertise",
];
const ALLOWED_DESPITE_PREFIX = new Set(["tls-min-version", "tls-cipher-suites", "tls-curve-preferences"]);

/** Why an extra argument is refused, or undefined when it is fine. */
export function extraArgumentProblem(
  component: "etcd" | "apiServer" | "controllerManager" | "scheduler",
  argument: { name: string; value?: string },
  fileNames: readonly string[],
): string | undefined {
  const owned =
    OWNED[component]?.has(argument.name) === true ||
    (OWNED_PREFIXES.some((prefix) => argument.name.startsWith(prefix)) && !ALLOWED_DESPITE_PREFIX.has(argument.name));
  if (owned) return `--${argument.name} belongs to the placement and cannot be set; ${cureOf(argument.name)}`;
  if (component === "apiServer" && argument.name === "authorization-mode") {
    const modes = (argument.value ?? "").split(",").map((mode) => mode.trim());
    if (modes.includes("AlwaysAllow") || !modes.includes("Node") || !modes.includes("RBAC"))
      return `--authorization-mode=${argument.value ?? ""} would let anybody in or nodes out; name Node and RBAC, and not AlwaysAllow`;
  }
  return fileProblem(argument, fileNames);
}

function cureOf(flag: string): string {
  return flag.endsWith("-admission-plugins") ? "use spec.apiServer.admission" : "remove it";
}

/** A value may name a file of `files`, and no other: else a tenant could have another tenant's keys read to it. */
function fileProblem(argument: { name: string; value?: string }, fileNames: readonly string[]): string | undefined {
  const value = argument.value ?? "";
  for (const [, name] of value.matchAll(/\$FILES\/([^,;:]*)/g))
    if (name === undefined || !fileNames.includes(name))
      return `--${argument.name} names $FILES/${name ?? ""}, which is not in files; add it there`;
  // An address on the network is no file of this machine.
  const rest = value.replaceAll(/\$FILES\/[A-Za-z0-9._-]+/g, "").replaceAll(/https?:\/\/[^,;\s]*/g, "");
  if (
    rest.includes("$FILES") ||
    rest.includes("$DATA") ||
    // A program's working directory is the folder that holds its keys.
    /(^|[,=:;@\s])(\.{0,2}\/|file:|unix:|(files|data)\/)/.test(rest) ||
    rest.includes("..")
  )
    return `--${argument.name} names a path outside files; add the file to files and write $FILES/NAME`;
  return undefined;
}
