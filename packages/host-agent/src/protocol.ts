/** What the agent and the manager agree on beside the ByoHost kind. */

/** Common name of an agent's client certificate: `byoh:host:NAMESPACE/NAME`. */
export const HOST_USER_PREFIX = "byoh:host:";
/** Group of all agents. */
export const HOST_GROUP = "byoh:hosts";
/** Group of those who hold an enrolment token and no certificate yet. */
export const ENROL_GROUP = "system:bootstrappers:byoh";
/** On an enrolment token's Secret: the one host it is good for, as NAMESPACE/NAME. */
export const ENROL_HOST_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/host";

export function hostUser(namespace: string, name: string): string {
  return `${HOST_USER_PREFIX}${namespace}/${name}`;
}

/** NAMESPACE and NAME of an agent's user name; undefined for anybody else's. */
export function parseHostUser(user: string): { namespace: string; name: string } | undefined {
  const match = /^byoh:host:([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(user);
  return match?.[1] === undefined || match[2] === undefined ? undefined : { namespace: match[1], name: match[2] };
}

/** The ConfigMap that holds what was run on a host, beside its ByoHost. */
export function hostLogName(name: string): string {
  return `byoh-log-${name}`;
}

/** Keys of the Secret that says how Kubernetes is installed: a plan of ours, or scripts as other installers make them. */
export const INSTALL_KEYS = { plan: "plan", install: "install", uninstall: "uninstall" } as const;

export const AGENT_VERSION = "0.1.0";
