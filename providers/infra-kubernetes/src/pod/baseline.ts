import { isObject } from "@capstan/apimachinery";
import type { Container, PodSpec } from "./shape.ts";
import { containersOf } from "./template.ts";

type Context = Record<string, unknown>;

/** A pod as far as Pod Security looks at it. */
export interface CheckedPod {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const CAPABILITIES = words(
  "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT",
);
const SELINUX_TYPES = words("container_t container_init_t container_kvm_t container_engine_t");
const SYSCTLS = words(
  "kernel.shm_rmid_forced net.ipv4.ip_local_port_range net.ipv4.ip_unprivileged_port_start net.ipv4.tcp_syncookies net.ipv4.ping_group_range net.ipv4.ip_local_reserved_ports net.ipv4.tcp_keepalive_time net.ipv4.tcp_fin_timeout net.ipv4.tcp_keepalive_intvl net.ipv4.tcp_keepalive_probes net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_notsent_lowat",
);
const PROFILES = words("RuntimeDefault Localhost");
const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";
const PROBES = ["livenessProbe", "readinessProbe", "startupProbe"];
const HOOKS = ["postStart", "preStop"];

/**
 * Returns whether Pod Security's level baseline refuses a pod, so that its namespace must be labelled privileged. Host namespaces and host
 * ports are refused everywhere.
 */
export function needsPrivileges({ metadata, spec }: CheckedPod): boolean {
  return (
    (spec.volumes ?? []).some((volume) => volume["hostPath"] !== undefined) ||
    Object.entries(metadata.annotations ?? {}).some(isUnconfinedAnnotation) ||
    isBeyond(spec["securityContext"]) ||
    hasUnsafeSysctls(spec["securityContext"]) ||
    containersOf(spec).some((container) => isPrivileged(container) || callsHosts(container))
  );
}

function isPrivileged({ securityContext }: Container): boolean {
  return (
    securityContext?.privileged === true ||
    (securityContext?.capabilities?.add ?? []).some((name) => !CAPABILITIES.has(name)) ||
    (securityContext?.procMount ?? "Default") !== "Default" ||
    isBeyond(securityContext)
  );
}

/** What pods and containers have in common. */
function isBeyond(context: unknown): boolean {
  if (!isObject(context)) return false;
  const profile = (field: string): boolean => {
    const value = context[field];
    return isObject(value) && !PROFILES.has(String(value["type"]));
  };
  const { user, role, type } = inner(context, "seLinuxOptions");
  return (
    profile("seccompProfile") ||
    profile("appArmorProfile") ||
    isSet(user) ||
    isSet(role) ||
    (isSet(type) && !SELINUX_TYPES.has(String(type))) ||
    inner(context, "windowsOptions")["hostProcess"] === true
  );
}

/** Where there is no field, API servers take the profile from the annotation. */
function isUnconfinedAnnotation([name, value]: [string, string]): boolean {
  if (!name.startsWith(APPARMOR)) return false;
  return value !== "" && value !== "runtime/default" && !value.startsWith("localhost/");
}

function hasUnsafeSysctls(context: unknown): boolean {
  const sysctls: unknown = isObject(context) ? context["sysctls"] : undefined;
  const list = Array.isArray(sysctls) ? (sysctls as unknown[]) : [];
  return list.some((each) => isObject(each) && !SYSCTLS.has(String(each["name"])));
}

/** Probes and hooks run in the network of the outer node: with a host they reach what only that may. */
function callsHosts(container: Container): boolean {
  const lifecycle = inner(container, "lifecycle");
  const handlers = [...PROBES.map((probe) => inner(container, probe)), ...HOOKS.map((hook) => inner(lifecycle, hook))];
  return handlers.some((handler) => ["httpGet", "tcpSocket"].some((action) => isSet(inner(handler, action)["host"])));
}

function inner(value: Context, field: string): Context {
  const found = value[field];
  return isObject(found) ? found : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
