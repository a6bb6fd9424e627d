import { readFileSync } from "node:fs";
import { ApiError, deepCopy, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import { beforeEach, describe, expect, it } from "vitest";
import type { AdmissionRequest, ResourceType } from "../types.ts";
import { bootstrapRbac } from "./bootstrap-rbac.ts";
import { rbacAdmission } from "./escalation.ts";
import { missingRules } from "./policy-rule.ts";
import { createRbacAuthorizer, forbiddenFor, type RbacAuthorizer } from "./rbac-authorizer.ts";
import { reconcileDefaultRbac } from "./reconcile-rbac.ts";
import { RBAC_GROUP, Resources } from "./resources.ts";
import { ask, askPath, tinyApi } from "./testing/tiny-api.ts";

const bob: UserInfo = { name: "bob", groups: ["devs", "system:authenticated"] };
const API_VERSION = `${RBAC_GROUP}/v1`;

const role = (kind: string, where: string, rules: object[], more: object = {}): Unstructured => {
  const [namespace = "", name = ""] = where.split("/");
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: { name, ...(namespace === "" ? {} : { namespace }) },
    rules,
    ...more,
  };
};
const binding = (where: string, roleRef: string, ...subjects: string[]): Unstructured => {
  const [namespace = "", name = ""] = where.split("/");
  const [kind, roleName] = roleRef.split("/");
  return {
    apiVersion: API_VERSION,
    kind: namespace === "" ? "ClusterRoleBinding" : "RoleBinding",
    metadata: { name, ...(namespace === "" ? {} : { namespace }) },
    roleRef: { apiGroup: RBAC_GROUP, kind, name: roleName },
    subjects: subjects.map((subject) => {
      const [subjectKind, subjectName, home] = subject.split("/");
      return { kind: subjectKind, name: subjectName, namespace: home };
    }),
  };
};

let api: ReturnType<typeof tinyApi>;
let rbac: RbacAuthorizer;
beforeEach(() => {
  api = tinyApi();
  rbac = createRbacAuthorizer(api);
  for (const object of bootstrapRbac()) api.put(object);
});

describe("authorize", () => {
  it("lets system:masters do everything", () => {
    expect(rbac.authorize(ask({ name: "root", groups: ["system:masters"] }, "delete", "x/y", "ns/z")).allowed).toBe(
      true,
    );
  });

  it("grants all users health and version, and authenticated users discovery", () => {
    const anonymous = { name: "system:anonymous", groups: ["system:unauthenticated"] };
    expect(rbac.authorize(askPath(anonymous, "get", "/version")).allowed).toBe(true);
    expect(rbac.authorize(askPath(anonymous, "get", "/api")).allowed).toBe(false);
    expect(rbac.authorize(askPath(bob, "get", "/apis/apps/v1"))).toEqual({
      allowed: true,
      reason: `RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"`,
    });
    expect(rbac.authorize(askPath(bob, "post", "/apis/apps/v1")).allowed).toBe(false);
  });

  it.each<[string, string, string, boolean]>([
    ["get", "core/pods", "ns/a", true],
    ["get", "core/pods", "ns/", true],
    ["list", "core/pods", "ns/", false],
    ["get", "core/pods/log", "ns/a", false],
    ["update", "apps/deployments/scale", "ns/a", true],
    ["update", "apps/statefulsets/scale", "ns/a", true],
    ["update", "apps/statefulsets", "ns/a", false],
    ["get", "core/secrets", "ns/mine", true],
    ["get", "core/secrets", "ns/other", false],
    ["list", "core/secrets", "ns/", false],
    ["create", "core/secrets", "ns/", false],
    ["list", "core/secrets", "ns/mine", true],
    ["get", "core/pods", "other/a", false],
    ["get", "batch/jobs", "ns/a", true],
    ["get", "batch/jobs/status", "ns/a", true],
  ])("%s %s in %s: %s", (verb, what, where, allowed) => {
    api.put(
      role("Role", "ns/r", [
        { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
        { verbs: ["*"], apiGroups: ["apps"], resources: ["*/scale"] },
        { verbs: ["get", "list", "create"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"] },
        { verbs: ["get"], apiGroups: ["batch"], resources: ["*"] },
      ]),
    );
    api.put(binding("ns/b", "Role/r", "User/bob"));
    expect(rbac.authorize(ask(bob, verb, what, where)).allowed).toBe(allowed);
  });

  it("names the RoleBinding and a ServiceAccount subject", () => {
    const account = { name: "system:serviceaccount:ns:sa", groups: [] };
    api.put(role("ClusterRole", "/r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]));
    api.put(binding("ns/b", "ClusterRole/r", "ServiceAccount/sa/ns"));
    expect(rbac.authorize(ask(account, "get", "core/pods", "ns/x")).reason).toBe(
      `RBAC: allowed by RoleBinding "b/ns" of ClusterRole "r" to ServiceAccount "sa/ns"`,
    );
  });

  it("caches grants for all objects separately from grants by name or in one namespace", () => {
    api.put(
      role("ClusterRole", "/wide", [
        { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
        { verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["mine"] },
      ]),
    );
    api.put(role("Role", "ns/r", [{ verbs: ["get"], apiGroups: ["apps"], resources: ["deployments"] }]));
    api.put(binding("/wide", "ClusterRole/wide", "User/bob"));
    api.put(binding("ns/b", "Role/r", "User/bob"));
    const may = (what: string, where: string): boolean => rbac.authorize(ask(bob, "get", what, where)).allowed;
    expect(["ns/a", "ns/b", "other/a"].map((where) => may("core/pods", where))).toEqual([true, true, true]);
    expect(["ns/mine", "ns/other", "other/mine"].map((where) => may("core/secrets", where))).toEqual([
      true,
      false,
      true,
    ]);
    expect(["ns/a", "other/a", "ns/b"].map((where) => may("apps/deployments", where))).toEqual([true, false, true]);
    api.put(binding("/wide", "ClusterRole/wide", "User/eve"));
    expect(may("core/pods", "ns/a")).toBe(false);
  });

  it("forgets decisions when a role or binding changes", async () => {
    const question = ask(bob, "get", "core/pods", "ns/x");
    expect(rbac.authorize(question).allowed).toBe(false);
    api.put(binding("ns/b", "Role/r", "Group/devs"));
    expect(rbac.authorize(question)).toEqual({
      allowed: false,
      reason: `RBAC: role.rbac.authorization.k8s.io "r" not found`,
    });
    api.put(role("Role", "ns/r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]));
    expect(rbac.authorize(question).allowed).toBe(true);
    api.put(binding("ns/b", "Role/r", "Group/ops"));
    expect(rbac.authorize(question).allowed).toBe(false);
    api.put(binding("ns/b", "Role/r", "Group/devs"));
    await api.delete(Resources.roleBindings, "ns", "b");
    expect(rbac.authorize(question).allowed).toBe(false);
  });

  it("edit reads secrets but does not write roles; admin writes roles", () => {
    api.put(binding("ns/e", "ClusterRole/edit", "User/ed"));
    api.put(binding("ns/a", "ClusterRole/admin", "User/ada"));
    const [ed, ada] = [
      { name: "ed", groups: [] },
      { name: "ada", groups: [] },
    ];
    expect(rbac.authorize(ask(ed, "get", "core/secrets", "ns/x")).allowed).toBe(true);
    expect(rbac.authorize(ask(ed, "get", "core/pods", "ns/x")).allowed).toBe(true);
    expect(rbac.authorize(ask(ed, "create", `${RBAC_GROUP}/roles`, "ns/")).allowed).toBe(false);
    expect(rbac.authorize(ask(ada, "create", `${RBAC_GROUP}/roles`, "ns/")).allowed).toBe(true);
    expect(rbac.authorize(ask(ada, "create", `${RBAC_GROUP}/clusterroles`, "/")).allowed).toBe(false);
  });
});

it("the defaults equal those of a real kube-apiserver", () => {
  // testdata/default-rbac.golden.json: `kubectl get clusterroles,clusterrolebindings` of v1.37.1, metadata reduced to labels and annotations.
  const golden: Unstructured[] = JSON.parse(
    readFileSync(new URL("./testdata/default-rbac.golden.json", import.meta.url), "utf8"),
  );
  for (const ours of bootstrapRbac()) {
    const theirs = golden.find((o) => o.kind === ours.kind && o.metadata.name === ours.metadata.name);
    // Without a controller manager the real server leaves aggregated rules empty.
    expect(ours["aggregationRule"] === undefined ? ours : { ...ours, rules: null }).toEqual(theirs);
  }
});

describe("defaults at a later start", () => {
  const get = (kind: "clusterRoles" | "clusterRoleBindings", name: string): Unstructured | undefined =>
    api.get(Resources[kind], "", name);
  const change = (object: Unstructured | undefined, edit: (o: Unstructured) => void): void => {
    const copy = deepCopy(object ?? role("ClusterRole", "/none", []));
    edit(copy);
    api.put(copy);
  };

  it("writes nothing when all defaults exist", async () => {
    const before = get("clusterRoles", "system:node")?.metadata.resourceVersion;
    let changes = 0;
    const stop = api.watch(undefined, () => changes++);
    const loaded = changes;
    await reconcileDefaultRbac(api);
    stop();
    expect(changes).toBe(loaded);
    expect(get("clusterRoles", "system:node")?.metadata.resourceVersion).toBe(before);
  });

  it("adds what is missing and keeps what users added", async () => {
    const own = { verbs: ["get"], apiGroups: ["x"], resources: ["y"] };
    change(get("clusterRoles", "system:basic-user"), (o) => {
      o["rules"] = [own];
    });
    change(get("clusterRoleBindings", "system:discovery"), (o) => {
      o["subjects"] = [{ kind: "User", name: "eve" }];
    });
    await api.delete(Resources.clusterRoles, "", "view");
    await reconcileDefaultRbac(api);
    expect(get("clusterRoles", "system:basic-user")?.["rules"]).toEqual([
      own,
      { verbs: ["create"], apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectaccessreviews"] },
      { verbs: ["create"], apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectrulesreviews"] },
      { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
    ]);
    expect(get("clusterRoleBindings", "system:discovery")?.["subjects"]).toMatchObject([
      { name: "eve" },
      { name: "system:authenticated" },
    ]);
    expect(get("clusterRoles", "view")).toBeDefined();
  });

  it("skips objects with autoupdate false, and replaces a binding to another role", async () => {
    change(get("clusterRoles", "system:basic-user"), (o) => {
      o["rules"] = [];
      o.metadata.annotations = { "rbac.authorization.kubernetes.io/autoupdate": "false" };
    });
    change(get("clusterRoleBindings", "system:basic-user"), (o) => {
      o["roleRef"] = { kind: "ClusterRole", name: "cluster-admin" };
    });
    await reconcileDefaultRbac(api);
    expect(get("clusterRoles", "system:basic-user")?.["rules"]).toEqual([]);
    expect(get("clusterRoleBindings", "system:basic-user")?.["roleRef"]).toMatchObject({ name: "system:basic-user" });
  });
});

describe("the 403 text", () => {
  const message = (fn: () => ApiError): string => fn().message;
  it.each([
    [
      ask(bob, "list", "core/namespaces"),
      `namespaces is forbidden: User "bob" cannot list resource "namespaces" in API group "" at the cluster scope`,
    ],
    [
      ask(bob, "get", "apps/deployments/scale", "default/x"),
      `deployments.apps "x" is forbidden: User "bob" cannot get resource "deployments/scale" in API group "apps" in the namespace "default"`,
    ],
    [askPath(bob, "get", "/metrics"), `forbidden: User "bob" cannot get path "/metrics"`],
  ])("%#", (request, text) => {
    expect(message(() => forbiddenFor(request, ""))).toBe(text);
    expect(message(() => forbiddenFor(request, "why"))).toBe(`${text}: why`);
  });
});

describe("escalation", () => {
  const plugin = (): ReturnType<typeof rbacAdmission> => rbacAdmission(rbac);
  const submit = (object: Unstructured, oldObject?: Unstructured): string | undefined => {
    const resource = `${object.kind.toLowerCase()}s`;
    const attributes = ask(
      bob,
      "create",
      `${RBAC_GROUP}/${resource}`,
      `${object.metadata.namespace ?? ""}/${object.metadata.name}`,
    );
    const request: AdmissionRequest = {
      attributes,
      operation: oldObject === undefined ? "CREATE" : "UPDATE",
      type: { group: RBAC_GROUP, plural: resource } as ResourceType,
      object,
      oldObject,
      dryRun: false,
      options: {},
      warn: () => {},
    };
    try {
      expect(plugin().handles(request.type, request.operation, "")).toBe(true);
      void plugin().validate?.(request);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return `${error.code} ${error.message}`;
      throw error;
    }
  };
  beforeEach(() => {
    api.put(
      role("ClusterRole", "/rbacer", [
        { apiGroups: [RBAC_GROUP], resources: ["*"], verbs: ["create", "update", "patch", "get", "delete"] },
        { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
      ]),
    );
    api.put(binding("/rbacer", "ClusterRole/rbacer", "User/bob"));
  });
  const WHO = `user "bob" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:`;

  // Texts recorded from kube-apiserver with the same two roles.
  it("rejects a Role that exceeds the author's permissions, and lists what is missing", () => {
    const rules = [
      { apiGroups: [""], resources: ["secrets", "pods", "configmaps"], verbs: ["get", "list"] },
      { apiGroups: ["apps"], resources: ["*"], resourceNames: ["a"], verbs: ["*"] },
    ];
    expect(submit(role("Role", "default/esc", rules))).toBe(
      `403 roles.rbac.authorization.k8s.io "esc" is forbidden: ${WHO}\n{APIGroups:[""], Resources:["configmaps"], Verbs:["get" "list"]}\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n{APIGroups:["apps"], Resources:["*"], ResourceNames:["a"], Verbs:["*"]}`,
    );
  });

  it("rejects URLs that are not held and repeats verbs like upstream", () => {
    const rules = [
      { nonResourceURLs: ["/metrics", "/healthz"], verbs: ["get"] },
      { apiGroups: ["", ""], resources: ["secrets"], verbs: ["get"] },
    ];
    expect(submit(role("ClusterRole", "/esc", rules))).toBe(
      `403 clusterroles.rbac.authorization.k8s.io "esc" is forbidden: ${WHO}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "get"]}\n{NonResourceURLs:["/metrics"], Verbs:["get"]}`,
    );
  });

  it("rejects rules whose combinations exceed what can be checked", () => {
    const many = Array.from({ length: 300 }, (_, i) => `x${i}`);
    const rule = { verbs: many, apiGroups: many, resources: many, resourceNames: [], nonResourceURLs: [] };
    expect(() => missingRules([], [rule])).toThrow(/too many to check/);
  });

  it("allows what is held", () => {
    expect(
      submit(role("ClusterRole", "/ok", [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }])),
    ).toBeUndefined();
  });

  it("wants cluster-admin for an aggregationRule", () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
    expect(submit(role("ClusterRole", "/agg", [], { aggregationRule }))).toBe(
      `403 clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    );
  });

  it("refuses bindings to stronger and to missing roles", () => {
    expect(submit(binding("default/b1", "ClusterRole/cluster-admin", "User/bob"))).toBe(
      `403 rolebindings.rbac.authorization.k8s.io "b1" is forbidden: ${WHO}\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}`,
    );
    expect(submit(binding("default/b1", "Role/missing", "User/bob"))).toBe(
      `404 rolebindings.rbac.authorization.k8s.io "missing" not found`,
    );
  });

  it("accepts users who may escalate or bind, and edits of the garbage collector", () => {
    const strong = role("ClusterRole", "/strong", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]);
    expect(submit({ ...strong, metadata: { name: "strong", finalizers: [] } }, strong)).toBeUndefined();
    api.put(
      role("ClusterRole", "/esc", [
        { apiGroups: [RBAC_GROUP], resources: ["clusterroles"], verbs: ["escalate", "bind"] },
      ]),
    );
    api.put(binding("/esc", "ClusterRole/esc", "User/bob"));
    expect(submit(strong)).toBeUndefined();
    expect(submit(binding("/b", "ClusterRole/cluster-admin", "User/bob"))).toBeUndefined();
    expect(submit(role("Role", "default/r", strong["rules"] as object[]))).toContain("403");
  });
});
