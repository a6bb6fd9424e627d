import { isDns1123Label, isDns1123Subdomain, type UserInfo } from "@capstan/apimachinery";

/** Group names that the server itself gives a meaning. */
export const Groups = {
  masters: "system:masters",
  authenticated: "system:authenticated",
  unauthenticated: "system:unauthenticated",
  serviceAccounts: "system:serviceaccounts",
  bootstrappers: "system:bootstrappers",
} as const;

/** Who makes a request without credentials. */
export const ANONYMOUS: UserInfo = Object.freeze({
  name: "system:anonymous",
  groups: [Groups.unauthenticated],
});

/** `extra` key that names the credential used. */
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

/** The user name of a ServiceAccount. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** The groups every ServiceAccount of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return [Groups.serviceAccounts, `${Groups.serviceAccounts}:${namespace}`];
}

/** Namespace and name in a ServiceAccount's user name, or undefined for other users. */
export function parseServiceAccountUser(user: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace = "", name = "", ...rest] = user.split(":");
  if (system !== "system" || kind !== "serviceaccount" || rest.length > 0) return undefined;
  if (isDns1123Label(namespace).length > 0 || isDns1123Subdomain(name).length > 0) return undefined;
  return { namespace, name };
}

/** The user with system:authenticated as last group. */
export function authenticated(user: UserInfo): UserInfo {
  if (user.groups.includes(Groups.authenticated) || user.name === ANONYMOUS.name) return user;
  return { ...user, groups: [...user.groups, Groups.authenticated] };
}
