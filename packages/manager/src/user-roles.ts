import type { Unstructured } from "@capstan/apimachinery";
import type { AnyKind } from "@capstan/capi";
import type { ManagedProvider } from "./providers.ts";

const RBAC = "rbac.authorization.k8s.io";
const READ = ["get", "list", "watch"];
const WRITE = ["create", "delete", "deletecollection", "patch", "update"];

/** The parts of a provider from which roles are built. */
export type RoleProvider = Pick<ManagedProvider, "kinds" | "access">;

/** The kinds of providers, sorted by the role that may use them. */
function kindsFor(providers: readonly RoleProvider[]): Record<"view" | "secret" | "edit" | "admin", AnyKind[]> {
  const sorted = { view: [], secret: [], edit: [], admin: [] } as Record<
    "view" | "secret" | "edit" | "admin",
    AnyKind[]
  >;
  for (const { kinds, access } of providers)
    for (const kind of kinds) {
      sorted[access?.credentials?.includes(kind.plural) === true ? "secret" : "view"].push(kind);
      // Cluster-scoped kinds belong to all tenants: only cluster-admin writes them.
      if (!kind.namespaced) continue;
      if (access?.inventory?.includes(kind.plural) !== true) sorted.edit.push(kind);
      sorted.admin.push(kind);
    }
  return sorted;
}

/**
 * Builds ClusterRoles that aggregate these kinds into Kubernetes' `view`, `edit` and `admin`. None of them grants access to Secrets, and
 * only controllers may write status.
 */
export function userRoles(name: string, providers: readonly RoleProvider[]): Unstructured[] {
  const { view, secret, edit, admin } = kindsFor(providers);
  return [
    role(name, "view", rules(view, READ, ["", "/status", "/scale"])),
    role(name, "edit", [...rules(secret, READ, ["", "/status"]), ...rules(edit, WRITE, ["", "/scale"])]),
    role(name, "admin", rules(admin, WRITE, ["", "/scale"])),
  ].filter(({ rules: granted }) => (granted as object[]).length > 0);
}

function role(name: string, target: string, granted: object[]): Unstructured {
  const labels = { [`${RBAC}/aggregate-to-${target}`]: "true" };
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: `${name}-aggregate-to-${target}`, labels },
    rules: granted,
  };
}

function rules(kinds: readonly AnyKind[], verbs: readonly string[], parts: readonly string[]): object[] {
  return [...new Set(kinds.map(({ group }) => group))].map((group) => ({
    apiGroups: [group],
    resources: kinds
      .filter((kind) => kind.group === group)
      .flatMap((kind) => parts.filter((part) => has(kind, part)).map((part) => `${kind.plural}${part}`)),
    verbs,
  }));
}

/** Whether a kind has the part: itself, or a subresource that its CRD names. */
function has(kind: AnyKind, part: string): boolean {
  if (part === "") return true;
  const { spec } = kind.crd() as { spec?: { versions?: { name: string; subresources?: object }[] } };
  const served = spec?.versions?.find(({ name }) => name === kind.version);
  return Object.hasOwn(served?.subresources ?? {}, part.slice(1));
}
