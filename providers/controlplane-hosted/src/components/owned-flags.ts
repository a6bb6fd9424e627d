import { FILE_FLAGS } from "./file-flags.ts";

/** Flags that decide about identity, storage and reachability: setting them would let a tenant break out of its isolation. */
const OWNED: Record<string, ReadonlySet<string>> = {
  etcd: new Set([
    "name",
    "data-dir",
    "wal-dir",
    "config-file",
    "auth-token",
    "enable-pprof",
    "experimental-peer-skip-client-san-verification",
    "socket-reuse-port",
    "socket-reuse-address",
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
    // Another program would sign tokens, or expose the data of this one.
    "service-account-signing-endpoint",
    "debug-socket-path",
    // It serves /var/log of the machine it runs on.
    "enable-logs-handler",
    // The configuration of authorization replaces authorization-mode, which is checked below.
    "authorization-config",
    // spec.apiServer.admission sets them, and keeps NodeRestriction.
    "admission-control",
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
    // It runs the programs that it finds there.
    "flex-volume-plugin-dir",
    // It creates folders on the machine that it runs on.
    "enable-hostpath-provisioner",
  ]),
  scheduler: new Set([
    "master",
    "bind-address",
    "secure-port",
    "cert-dir",
    "kubeconfig",
    "authentication-kubeconfig",
    "authorization-kubeconfig",
    "client-ca-file",
    "requestheader-client-ca-file",
    "write-config-to",
  ]),
};

/** Prefixes of flags that always name files or addresses of the placement. */
const OWNED_PREFIXES = [
  "tls-",
  "discovery",
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

/** Returns why an extra argument is rejected, or undefined if it is allowed. */
export function extraArgumentProblem(
  component: "etcd" | "apiServer" | "controllerManager" | "scheduler",
  argument: { name: string; value?: string },
  fileNames: readonly string[],
): string | undefined {
  // Kubernetes' programs treat underscores as dashes.
  const name = argument.name.replaceAll("_", "-");
  const owned =
    OWNED[component]?.has(name) === true ||
    (OWNED_PREFIXES.some((prefix) => name.startsWith(prefix)) && !ALLOWED_DESPITE_PREFIX.has(name));
  if (owned) return `--${argument.name} belongs to the placement and cannot be set; ${cureOf(argument.name)}`;
  if (component === "apiServer" && name === "authorization-mode") {
    const modes = (argument.value ?? "").split(",");
    // Lists are read as CSV, where a quoted name is the same name, so only letters are accepted.
    const plain = modes.every((mode) => /^[A-Za-z]+$/.test(mode) && mode !== "AlwaysAllow");
    if (!plain || !modes.includes("Node") || !modes.includes("RBAC"))
      return `--authorization-mode=${argument.value ?? ""} would admit every request or lock out nodes; include Node and RBAC, and do not use AlwaysAllow`;
  }
  if (component === "apiServer" && name === "anonymous-auth" && argument.value === "false")
    return "--anonymous-auth=false would lock out probes and joining nodes, which read cluster-info anonymously; remove it and list the paths that stay open in a file for --authentication-config";
  return fileProblem({ ...argument, name }, fileNames) ?? typeProblem(component, { ...argument, name });
}

const isFileFlag = (component: string, name: string): boolean =>
  Object.entries(FILE_FLAGS).some(([each, flags]) => each === component && Object.hasOwn(flags, name));

/** A file is checked against the type that its flag expects. */
function typeProblem(component: string, argument: { name: string; value?: string }): string | undefined {
  if (!(argument.value ?? "").includes("$FILES") || isFileFlag(component, argument.name)) return undefined;
  return `--${argument.name} cannot refer to a file; remove it`;
}

function cureOf(flag: string): string {
  if (flag === "authorization-config") return "use --authorization-mode";
  return /^admission-control$|-admission-plugins$/.test(flag) ? "use spec.apiServer.admission" : "remove it";
}

/** Flags whose value is the name of a file, by the programs' placeholders; all their flags are checked against it. */
const NAMES_A_FILE =
  /(^|-)(file|config|kubeconfig|manifest|path|dir|cert|cacert|certificate|certificate-authority|key)$|-filepath-/;
const NAMES_NO_FILE = new Set(["runtime-config"]);

/** A value may name a file of `files`, and no other: otherwise a tenant could read another tenant's keys. */
function fileProblem(argument: { name: string; value?: string }, fileNames: readonly string[]): string | undefined {
  const value = argument.value ?? "";
  // A relative path is resolved in the working directory, which holds the program's own keys.
  if (NAMES_A_FILE.test(argument.name) && !NAMES_NO_FILE.has(argument.name) && !value.startsWith("$FILES/"))
    return `--${argument.name} refers to a path outside files; add the file to files and write $FILES/NAME`;
  for (const [, name] of value.matchAll(/\$FILES\/([^,;:]*)/g))
    if (name === undefined || !fileNames.includes(name))
      return `--${argument.name} refers to $FILES/${name ?? ""}, which is not in files; add it there`;
  // A network address is not a file of this machine.
  const rest = value.replaceAll(/\$FILES\/[A-Za-z0-9._-]+/g, "").replaceAll(/https?:\/\/[^,;\s]*/g, "");
  if (
    rest.includes("$FILES") ||
    rest.includes("$DATA") ||
    // A program's working directory is the folder that holds its keys.
    /(^|[,=:;@\s"'`])(\.{0,2}\/|file:|unix[a-z-]*:|(files|data)\/)/i.test(rest) ||
    rest.includes("..")
  )
    return `--${argument.name} refers to a path outside files; add the file to files and write $FILES/NAME`;
  return undefined;
}
