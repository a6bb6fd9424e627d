/** What the agent and the manager agree on beside the ByoHost kind. */
import type { ByoHost } from "./kinds/byo-host.ts";

const HOST_USER_PREFIX = "byoh:host:";
/** Group of all agents. */
export const HOST_GROUP = "byoh:hosts";
/** Group of those who hold an enrolment token and no certificate yet. */
export const ENROL_GROUP = "system:bootstrappers:byoh";
/** On an enrolment token's Secret: the one host it is good for, as NAMESPACE/NAME. */
export const ENROL_HOST_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/host";

/** On an enrolment token's Secret: the UID of that host, so that it is worth nothing for a later host of the same name. */
export const ENROL_UID_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/host-uid";
/** On a ByoHost: the enrolment whose certificates are good, which is the id of the token it was made with. */
export const ENROLMENT_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/enrolment";

/** Why a certificate is refused to an agent whose host was forgotten with a node on it: it is to take that node off. */
export const GIVEN_UP_REASON = "HostGivenUp";

/**
 * Common name of an agent's client certificate: `byoh:host:NAMESPACE/NAME:ENROLMENT`. By the enrolment a host is told
 * from an earlier one of its name; hosts that enrolled before there were such numbers have none.
 */
export function hostUser(namespace: string, name: string, enrolment: string | undefined): string {
  return `${HOST_USER_PREFIX}${namespace}/${name}${enrolment === undefined ? "" : `:${enrolment}`}`;
}

/** Who an agent is by its user name; undefined for anybody else's. */
export function parseHostUser(user: string): { namespace: string; name: string; enrolment?: string } | undefined {
  const [, namespace, name, enrolment] = /^byoh:host:([a-z0-9-]+)\/([a-z0-9.-]+?)(?::([a-z0-9]+))?$/.exec(user) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { namespace, name, ...(enrolment === undefined ? {} : { enrolment }) };
}

/** The user name that has the rights of a host's agent now; undefined until a host has enrolled. */
export function agentUser({ metadata, status }: ByoHost): string | undefined {
  const { namespace = "", name = "", annotations } = metadata;
  const enrolment = annotations?.[ENROLMENT_ANNOTATION];
  // One that reports without a number enrolled before there were any, and takes one when it renews its certificate.
  return enrolment === undefined && status?.lastHeartbeatTime === undefined
    ? undefined
    : hostUser(namespace, name, enrolment);
}

/** The ConfigMap that holds what was run on a host, beside its ByoHost. */
export function hostLogName(name: string): string {
  return `byoh-log-${name}`;
}

/** Keys of the Secret that says how Kubernetes is installed: a plan of ours, or scripts as other installers make them. */
export const INSTALL_KEYS = { plan: "plan", install: "install", uninstall: "uninstall" } as const;

export const AGENT_VERSION = "0.1.0";
