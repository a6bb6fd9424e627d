import { type Clock, formatTime, type KubeObject, type Random, type Unstructured } from "@capstan/apimachinery";
import type { Client } from "@capstan/runtime";
import { ByoHost } from "./kinds/byo-host.ts";
import {
  agentUser,
  ENROL_GROUP,
  ENROL_HOST_ANNOTATION,
  ENROL_UID_ANNOTATION,
  HOST_GROUP,
  hostLogName,
} from "./protocol.ts";

const RBAC = "rbac.authorization.k8s.io";
const TOKEN_LIFE_MS = 60 * 60_000;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A one-time token `id.secret` that enrols one host. */
export interface EnrolmentToken {
  id: string;
  secret: string;
}

/** Generates a random enrolment token in the format of a Kubernetes bootstrap token. */
export function newEnrolmentToken(random: Random): EnrolmentToken {
  const text = (length: number): string =>
    [...random.bytes(length)].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return { id: text(6), secret: text(16) };
}

/** Builds the bootstrap token Secret of an enrolment token, valid for one host and, by default, for one hour. */
export function enrolmentSecret(
  token: EnrolmentToken,
  host: KubeObject,
  clock: Clock,
  lifeMs = TOKEN_LIFE_MS,
): Unstructured {
  const { namespace = "", name = "", uid } = host.metadata;
  const data = {
    "token-id": token.id,
    "token-secret": token.secret,
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": ENROL_GROUP,
    expiration: formatTime(clock.now() + lifeMs),
    description: `enrols host ${namespace}/${name}`,
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: `bootstrap-token-${token.id}`,
      namespace: "kube-system",
      annotations: {
        [ENROL_HOST_ANNOTATION]: `${namespace}/${name}`,
        ...(uid === undefined ? {} : { [ENROL_UID_ANNOTATION]: uid }),
      },
    },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
  };
}

/** Builds the RBAC objects that all hosts share: holders of a token and enrolled agents may request certificates. */
export function enrolmentRoles(): Unstructured[] {
  const role = (name: string): Unstructured => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name },
    rules: [
      { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: ["create", "get"] },
    ],
  });
  const binding = (name: string, group: string): Unstructured => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "capstan:byoh-enrol" },
    subjects: [{ kind: "Group", name: group, apiGroup: RBAC }],
  });
  return [
    role("capstan:byoh-enrol"),
    binding("capstan:byoh-enrol", ENROL_GROUP),
    binding("capstan:byoh-renew", HOST_GROUP),
  ];
}

/** Builds the ByoHost, which can be claimed once its agent has reported. */
export function byoHost(namespace: string, name: string, labels: Record<string, string>): ByoHost {
  return { apiVersion: ByoHost.apiVersion, kind: ByoHost.kind, metadata: { namespace, name, labels }, spec: {} };
}

/**
 * Builds the Role, RoleBinding and log ConfigMap of one agent, with access to its ByoHost, its log and the Secrets it currently needs. They
 * are deleted with the ByoHost.
 */
export function hostRights(host: ByoHost, secretNames: string[]): Unstructured[] {
  const { namespace = "", name = "", uid } = host.metadata;
  const user = agentUser(host);
  const owner = { apiVersion: ByoHost.apiVersion, kind: ByoHost.kind, name, uid: uid ?? "" };
  const metadataOf = (own: string): Unstructured["metadata"] => ({
    namespace,
    name: own,
    ...(uid === undefined ? {} : { ownerReferences: [owner] }),
  });
  const roleName = `byoh-host-${name}`;
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: "Role",
      metadata: metadataOf(roleName),
      rules: [
        { apiGroups: [ByoHost.group], resources: ["byohosts"], resourceNames: [name], verbs: ["get", "list", "watch"] },
        {
          apiGroups: [ByoHost.group],
          resources: ["byohosts/status"],
          resourceNames: [name],
          verbs: ["get", "patch", "update"],
        },
        { apiGroups: [""], resources: ["configmaps"], resourceNames: [hostLogName(name)], verbs: ["get", "patch"] },
        ...(secretNames.length === 0
          ? []
          : [{ apiGroups: [""], resources: ["secrets"], resourceNames: secretNames, verbs: ["get"] }]),
      ],
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: metadataOf(roleName),
      roleRef: { apiGroup: RBAC, kind: "Role", name: roleName },
      subjects: user === undefined ? [] : [{ kind: "User", name: user, apiGroup: RBAC }],
    },
    // RBAC cannot limit create to one name, so it is created before the agent needs it.
    { apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(hostLogName(name)) },
  ];
}

/**
 * Registers a host and creates its enrolment token, as the user of the client. Permissions of an earlier host of that name do not pass to
 * the new one: the manager grants them when the host enrols.
 */
export async function offerEnrolment(
  client: Client,
  host: { namespace: string; name: string; labels?: Record<string, string> },
  { clock, random }: { clock: Clock; random: Random },
): Promise<EnrolmentToken> {
  const token = newEnrolmentToken(random);
  const { namespace, name, labels = {} } = host;
  const wanted = byoHost(namespace, name, labels);
  const known = await client.get(ByoHost, { namespace, name });
  for (const right of known === undefined ? hostRights(wanted, []) : []) await client.delete(right);
  for (const role of enrolmentRoles()) await client.apply(role);
  await client.apply(enrolmentSecret(token, await client.apply(wanted), clock));
  return token;
}

/** Encodes the argument of `--enrol`: the API server, its CA, the host's name and the token. */
export function enrolmentLine(o: {
  server: string;
  caPem: string;
  namespace: string;
  name: string;
  token: EnrolmentToken;
}): string {
  const line = {
    server: o.server,
    ca: o.caPem,
    namespace: o.namespace,
    name: o.name,
    token: `${o.token.id}.${o.token.secret}`,
  };
  return Buffer.from(JSON.stringify(line)).toString("base64url");
}
