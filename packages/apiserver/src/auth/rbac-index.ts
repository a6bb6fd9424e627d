import { goQuote, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import { at, list, text } from "../builtin/read.ts";
import type { InternalApi, InternalChange } from "../types.ts";
import { type PolicyRule, rulesOf } from "./policy-rule.ts";
import { RBAC_GROUP, Resources } from "./resources.ts";
import { serviceAccountUser } from "./users.ts";

/** A binding that applies to a subject, as authorization needs it. */
interface Binding {
  readonly key: string;
  readonly role: { readonly kind: string; readonly name: string; readonly namespace: string };
  /** `RoleBinding "b/ns" of Role "r"`, as the reason shows it. */
  readonly description: string;
  readonly subjects: readonly { readonly key: string; readonly description: string }[];
}

/** A rule that applies to a user, and why. */
export interface AppliedRule {
  readonly rule: PolicyRule;
  readonly description: string;
  /** Whether a ClusterRoleBinding grants it: in every namespace and outside of them. */
  readonly clusterWide: boolean;
}

/** Roles and bindings by subject, kept current by watches. Loaded on first use, so that an idle server pays nothing. */
export class RbacIndex {
  readonly #api: InternalApi;
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** Namespace ("" = cluster) to subject to the keys of its bindings. */
  readonly #bySubject = new Map<string, Map<string, Set<string>>>();
  #stops: (() => void)[] | undefined;
  #current = 0;

  constructor(api: InternalApi) {
    this.#api = api;
  }

  /** Grows with every change of a role or binding: what was decided before may no longer hold. */
  generation(): number {
    this.#load();
    return this.#current;
  }

  /** Calls `visit` with every rule that applies until it returns true. Bindings to missing roles are named in `problems`. */
  visit(user: UserInfo, namespace: string, visit: (applied: AppliedRule) => boolean, problems: string[]): void {
    this.#load();
    const keys = [`User/${user.name}`, ...user.groups.map((group) => `Group/${group}`)];
    const scopes = namespace === "" ? [""] : ["", namespace];
    for (const scope of scopes) {
      const subjects = this.#bySubject.get(scope);
      if (subjects === undefined) continue;
      const seen = new Set<string>();
      for (const subject of keys)
        for (const key of subjects.get(subject) ?? []) {
          if (seen.has(key)) continue;
          seen.add(key);
          if (this.#visitBinding(key, subject, visit, problems)) return;
        }
    }
  }

  /** The rules of a role, or undefined when there is none. */
  rules(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    this.#load();
    return this.#roles.get(kind === "ClusterRole" ? `/${name}` : `${namespace}/${name}`);
  }

  /** Stops the watches. */
  close(): void {
    for (const stop of this.#stops ?? []) stop();
    this.#stops = undefined;
    this.#roles.clear();
    this.#bindings.clear();
    this.#bySubject.clear();
  }

  #visitBinding(key: string, subject: string, visit: (applied: AppliedRule) => boolean, problems: string[]): boolean {
    const binding = this.#bindings.get(key);
    if (binding === undefined) return false;
    const { kind, name, namespace } = binding.role;
    const rules = this.rules(kind, namespace, name);
    if (rules === undefined) {
      problems.push(`${kind.toLowerCase()}.${RBAC_GROUP} ${goQuote(name)} not found`);
      return false;
    }
    const to = binding.subjects.find((s) => s.key === subject)?.description ?? "";
    return rules.some((rule) =>
      visit({ rule, description: `${binding.description} to ${to}`, clusterWide: namespace === "" }),
    );
  }

  #load(): void {
    if (this.#stops !== undefined) return;
    this.#stops = [
      this.#api.watch(Resources.roles, (change) => this.#onRole(change)),
      this.#api.watch(Resources.clusterRoles, (change) => this.#onRole(change)),
      this.#api.watch(Resources.roleBindings, (change) => this.#onBinding(change)),
      this.#api.watch(Resources.clusterRoleBindings, (change) => this.#onBinding(change)),
    ];
  }

  #onRole(change: InternalChange): void {
    this.#current++;
    const key = `${change.namespace}/${change.name}`;
    if (change.object === undefined) this.#roles.delete(key);
    else this.#roles.set(key, rulesOf(change.object["rules"]));
  }

  #onBinding(change: InternalChange): void {
    this.#current++;
    const key = `${change.namespace}/${change.name}`;
    const old = this.#bindings.get(key);
    if (old !== undefined) {
      this.#bindings.delete(key);
      for (const subject of old.subjects) this.#bySubject.get(change.namespace)?.get(subject.key)?.delete(key);
    }
    if (change.object === undefined) return;
    const binding = readBinding(key, change.namespace, change.object);
    this.#bindings.set(key, binding);
    const subjects = this.#bySubject.get(change.namespace) ?? new Map<string, Set<string>>();
    this.#bySubject.set(change.namespace, subjects);
    for (const subject of binding.subjects)
      subjects.set(subject.key, (subjects.get(subject.key) ?? new Set()).add(key));
  }
}

function readBinding(key: string, namespace: string, object: Unstructured): Binding {
  const role = {
    kind: text(at(object, "roleRef", "kind")),
    name: text(at(object, "roleRef", "name")),
    namespace,
  };
  const own = object.metadata.name ?? "";
  const title =
    namespace === "" ? `ClusterRoleBinding ${goQuote(own)}` : `RoleBinding ${goQuote(`${own}/${namespace}`)}`;
  return {
    key,
    role,
    description: `${title} of ${role.kind} ${goQuote(role.name)}`,
    subjects: list(object["subjects"]).map((subject) => {
      const kind = text(at(subject, "kind"));
      const name = text(at(subject, "name"));
      if (kind !== "ServiceAccount") return { key: `${kind}/${name}`, description: `${kind} ${goQuote(name)}` };
      const home = text(at(subject, "namespace")) || namespace;
      return { key: `User/${serviceAccountUser(home, name)}`, description: `${kind} ${goQuote(`${name}/${home}`)}` };
    }),
  };
}
