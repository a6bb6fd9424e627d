/** What the agent and the manager agree on in addition to the ByoHost kind. */
import type { ByoHost } from "./kinds/byo-host.ts";

const HOST_USER_PREFIX = "byoh:host:";
/** Group of all enrolled agents. */
export const HOST_GROUP = "byoh:hosts";
/** Group of clients that authenticate with an enrolment token. */
export const ENROL_GROUP = "system:bootstrappers:byoh";
/** Annotation of an enrolment token's Secret: the only host that the token enrols, as NAMESPACE/NAME. */
export const ENROL_HOST_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/host";

/** Annotation of an enrolment token's Secret: the UID of that host, so that the token is invalid for a later host of that name. */
export const ENROL_UID_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/host-uid";
/** Annotation of a ByoHost: the current enrolment, identified by its token's ID. Certificates of other enrolments are invalid. */
export const ENROLMENT_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/enrolment";

/**
 * Annotation of a ByoHost with the value `true`: a person gives up the etcd member on a host that no machine claims, so that the agent
 * cleans it.
 */
export const DISCARD_MEMBER_ANNOTATION = "byoh.infrastructure.cluster.x-k8s.io/discard-etcd-member";

/** Denial reason for an agent whose ByoHost was deleted while the host still carried a node, which the agent must then remove. */
export const GIVEN_UP_REASON = "HostGivenUp";

/**
 * Returns the common name of an agent's certificate: `byoh:host:NAMESPACE/NAME:ENROLMENT`. The enrolment distinguishes a host from an
 * earlier one of the same name; hosts that enrolled with an older version have none.
 */
export function hostUser(namespace: string, name: string, enrolment: string | undefined): string {
  return `${HOST_USER_PREFIX}${namespace}/${name}${enrolment === undefined ? "" : `:${enrolment}`}`;
}

/** Parses the user name of an agent; undefined for any other user. */
export function parseHostUser(user: string): { namespace: string; name: string; enrolment?: string } | undefined {
  const [, namespace, name, enrolment] = /^byoh:host:([a-z0-9-]+)\/([a-z0-9.-]+?)(?::([a-z0-9]+))?$/.exec(user) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { namespace, name, enrolment };
}

/** Returns the user name that currently has the permissions of a host's agent; undefined until the host has enrolled. */
export function agentUser({ metadata, status }: ByoHost): string | undefined {
  const { namespace = "", name = "", annotations } = metadata;
  const enrolment = annotations?.[ENROLMENT_ANNOTATION];
  // One that reports without a number enrolled before there were any, and takes one when it renews its certificate.
  return enrolment === undefined && status?.lastHeartbeatTime === undefined
    ? undefined
    : hostUser(namespace, name, enrolment);
}

/** Returns the name of the ConfigMap next to a ByoHost that holds the log of the host. */
export function hostLogName(name: string): string {
  return `byoh-log-${name}`;
}

/** Keys of an installation Secret: a plan of our own format, or scripts as other installers provide them. */
export const INSTALL_KEYS = { plan: "plan", install: "install", uninstall: "uninstall" } as const;

/** Version of the host agent, which it reports in the status of its ByoHost. */
export const AGENT_VERSION = "0.1.0";
