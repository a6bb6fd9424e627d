import type { ApiResponse, Transport, Unstructured, UserInfo } from "@capstan/apimachinery";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/server.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const bob: UserInfo = { name: "bob", groups: ["devs", "system:authenticated"] };
let test: TestServer;
let asBob: Transport;
beforeEach(async () => {
  test = await startTestServer({
    controllers: false,
    auth: { staticTokens: new Map([["bobtoken", { name: "bob", groups: ["devs"] }]]) },
  });
  asBob = test.server.transport(bob);
});
afterEach(() => test.server.close());

const grant = async (rules: object[], namespace?: string): Promise<void> => {
  const base = namespace === undefined ? RBAC : `${RBAC}/namespaces/${namespace}`;
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  const meta = { metadata: { name: "granted" } };
  expect((await test.post(`${base}/${kind.toLowerCase()}s`, { ...meta, rules })).status).toBe(201);
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name: "granted" };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "bob" }];
  expect((await test.post(`${base}/${kind.toLowerCase()}bindings`, { ...meta, roleRef, subjects })).status).toBe(201);
};
const get = (path: string): Promise<ApiResponse> => asBob.request({ method: "GET", path });
const post = (path: string, body: unknown): Promise<ApiResponse> =>
  asBob.request({ method: "POST", path, body, headers: { "content-type": "application/json" } });
const message = (response: ApiResponse): string =>
  `${response.status} ${(response.body as { message?: string }).message ?? ""}`;

describe("a server with RBAC", () => {
  it("denies access until a role is bound, and at once when it is unbound", async () => {
    expect(message(await get("/api/v1/namespaces/default/configmaps"))).toBe(
      `403 configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "default"`,
    );
    await grant([{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }], "default");
    expect((await get("/api/v1/namespaces/default/configmaps")).status).toBe(200);
    expect((await get("/api/v1/namespaces/kube-system/configmaps")).status).toBe(403);
    await test.delete(`${RBAC}/namespaces/default/rolebindings/granted`);
    expect((await get("/api/v1/namespaces/default/configmaps")).status).toBe(403);
  });

  it("lets a name field selector count as a name", async () => {
    await grant(
      [{ verbs: ["list", "watch"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"] }],
      "default",
    );
    const path = "/api/v1/namespaces/default/configmaps";
    const list = (fieldSelector: string): Promise<ApiResponse> =>
      asBob.request({ method: "GET", path, query: { fieldSelector } });
    expect((await list("metadata.name=mine")).status).toBe(200);
    expect((await list("metadata.name=other")).status).toBe(403);
  });

  it("checks escalation when roles are written", async () => {
    await grant(
      [{ verbs: ["create"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"] }],
      "default",
    );
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["secrets"] }];
    expect(message(await post(`${RBAC}/namespaces/default/roles`, { metadata: { name: "r" }, rules }))).toBe(
      `403 roles.rbac.authorization.k8s.io "r" is forbidden: user "bob" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
    );
  });

  it("answers reviews", async () => {
    const spec = { resourceAttributes: { verb: "list", resource: "nodes" } };
    const answer = await post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { spec });
    expect(answer).toMatchObject({ status: 201, body: { status: { allowed: false }, spec } });
    const rules = await post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
      spec: { namespace: "default" },
    });
    expect(rules.body).toMatchObject({
      status: {
        incomplete: false,
        resourceRules: [{ resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"] }, {}],
      },
    });
    const whoami = await post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    expect(whoami.body).toMatchObject({
      status: { userInfo: { username: "bob", groups: ["devs", "system:authenticated"] } },
    });
    expect(
      (await post("/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec: { user: "x", ...spec } })).status,
    ).toBe(403);
  });

  it("impersonates for users with the permission", async () => {
    const whoami = (transport: Transport, headers: Record<string, string>): Promise<ApiResponse> =>
      transport.request({
        method: "POST",
        path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        body: {},
        headers: { "content-type": "application/json", ...headers },
      });
    const answer = await whoami(test.admin, { "impersonate-user": "alice", "impersonate-group": "g1" });
    expect(answer.body).toMatchObject({
      status: { userInfo: { username: "alice", groups: ["g1", "system:authenticated"] } },
    });
    expect(message(await whoami(asBob, { "impersonate-user": "alice" }))).toBe(
      `403 users "alice" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope`,
    );
  });

  it("issues ServiceAccount tokens that its own TokenReview accepts", async () => {
    await test.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "sa" } });
    const answer = await test.post("/api/v1/namespaces/default/serviceaccounts/sa/token", {
      spec: { expirationSeconds: 600 },
    });
    expect(answer.status).toBe(201);
    const { token } = (answer.body as Unstructured)["status"] as { token: string };
    const review = (): Promise<ApiResponse> =>
      test.post("/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token } });
    expect((await review()).body).toMatchObject({
      status: { authenticated: true, user: { username: "system:serviceaccount:default:sa" } },
    });
    await test.clock.advance(600_000);
    expect((await review()).body).toMatchObject({ status: { user: {}, error: expect.stringContaining("expired") } });
  });

  it("creates nothing in missing namespaces and protects its own", async () => {
    expect(message(await test.post("/api/v1/namespaces/nope/configmaps", { metadata: { name: "a" } }))).toBe(
      `404 namespaces "nope" not found`,
    );
    expect(message(await test.delete("/api/v1/namespaces/default"))).toBe(
      `403 namespaces "default" is forbidden: this namespace may not be deleted`,
    );
  });
});
