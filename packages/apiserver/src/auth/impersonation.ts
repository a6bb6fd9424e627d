import { badRequest, type UserInfo } from "@capstan/apimachinery";
import type { Authorizer, RequestAttributes } from "../types.ts";
import { goStrings } from "./policy-rule.ts";
import { forbiddenFor } from "./rbac-authorizer.ts";
import { ANONYMOUS, Groups, parseServiceAccountUser, serviceAccountGroups } from "./users.ts";

const EXTRA_PREFIX = "impersonate-extra-";
const GROUP = "authentication.k8s.io";

/**
 * The user to act as when a request carries Impersonate-* headers (`kubectl --as`), else `user` itself. Each part needs the
 * verb `impersonate`. Header names are lower-case; repeated headers are joined by ", ", as node does.
 */
export function impersonate(
  user: UserInfo,
  headers: Readonly<Record<string, string | undefined>>,
  authorizer: Authorizer,
  path: string,
): UserInfo {
  const name = headers["impersonate-user"] ?? "";
  const groups = split(headers["impersonate-group"]);
  const uid = headers["impersonate-uid"] ?? "";
  const extra = extraOf(headers);
  if (name === "") {
    if (groups.length === 0 && uid === "" && extra.size === 0) return user;
    throw badRequest(`${JSON.stringify(path)}: requested ${goStrings(groups)} without impersonating a user`);
  }

  const check = (group: string, resource: string, subresource: string, namespace: string, object: string): void => {
    const question: RequestAttributes = {
      user,
      verb: "impersonate",
      isResource: true,
      path: "",
      group,
      version: "v1",
      resource,
      subresource,
      namespace,
      name: object,
    };
    const { allowed, reason } = authorizer.authorize(question);
    if (!allowed) throw forbiddenFor(question, reason);
  };

  const account = parseServiceAccountUser(name);
  if (account === undefined) check("", "users", "", "", name);
  else check("", "serviceaccounts", "", account.namespace, account.name);
  for (const group of groups) check("", "groups", "", "", group);
  for (const [key, values] of extra) for (const value of values) check(GROUP, "userextras", key, "", value);
  if (uid !== "") check(GROUP, "uids", "", "", uid);

  const effective = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  const everybody = name === ANONYMOUS.name ? Groups.unauthenticated : Groups.authenticated;
  const acting: UserInfo = {
    name,
    ...(uid === "" ? {} : { uid }),
    groups: effective.includes(everybody) ? effective : [...effective, everybody],
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
  impersonators.set(acting, user);
  return acting;
}

const impersonators = new WeakMap<UserInfo, UserInfo>();

/** Who really made a request that runs as `user`, or undefined without impersonation. For the audit log. */
export function impersonatorOf(user: UserInfo): UserInfo | undefined {
  return impersonators.get(user);
}

const split = (header: string | undefined): string[] =>
  header === undefined || header === "" ? [] : header.split(", ");

function extraOf(headers: Readonly<Record<string, string | undefined>>): Map<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(EXTRA_PREFIX) || value === undefined) continue;
    extra.set(unescaped(header.slice(EXTRA_PREFIX.length)), split(value));
  }
  return extra;
}

/** As upstream: a broken percent encoding stands for itself. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
