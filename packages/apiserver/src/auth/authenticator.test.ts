import { constants, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { ApiError, seededRandom, type Unstructured, type UserInfo, VirtualClock } from "@capstan/apimachinery";
import {
  type CertificateAndKey,
  createCertificateAuthority,
  createServiceAccountKey,
  issueCertificate,
} from "@capstan/pki";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAuthenticator } from "./authenticator.ts";
import { impersonate } from "./impersonation.ts";
import { signingKey, signJwt } from "./jwt.ts";
import type { OidcOptions } from "./oidc.ts";
import { createRbacAuthorizer, type RbacAuthorizer } from "./rbac-authorizer.ts";
import { Resources } from "./resources.ts";
import { reviewTypes } from "./reviews.ts";
import { type ServiceAccountTokens, serviceAccountTokens } from "./service-account-tokens.ts";
import { tinyApi } from "./testing/tiny-api.ts";
import { tokenRequestHandler } from "./token-request.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const derOf = (pem: string): Uint8Array => Buffer.from(pem.replace(/-----[^-]+-----|\n/g, ""), "base64");
const code = async (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error: unknown) => (error instanceof ApiError ? error.code : -1),
  );

let clock: VirtualClock;
let api: ReturnType<typeof tinyApi>;
let saKey: { privateKeyPem: string };
let ca: CertificateAndKey;
let tokens: ServiceAccountTokens;
beforeAll(async () => {
  saKey = await createServiceAccountKey();
});
beforeEach(async () => {
  clock = new VirtualClock();
  api = tinyApi();
  ca = await createCertificateAuthority({
    commonName: "kubernetes",
    notBeforeMs: clock.now(),
    validMs: 1e11,
    random: seededRandom(1),
  });
  tokens = serviceAccountTokens({
    issuer: ISSUER,
    signingKeyPem: saKey.privateKeyPem,
    clock,
    random: seededRandom(2),
    api,
  });
});

const account = (name = "sa1"): Unstructured =>
  api.put({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default" } });

describe("client certificates", () => {
  const issue = (o: Partial<Parameters<typeof issueCertificate>[1]>): Promise<CertificateAndKey> =>
    issueCertificate(ca, {
      commonName: "jane",
      usages: ["client"],
      nowMs: clock.now(),
      validMs: 3_600_000,
      random: seededRandom(3),
      ...o,
    });
  const authenticator = () => createAuthenticator({ anonymous: true, clock });

  it("CN is the user, each O a group", async () => {
    const clientCertificate = derOf((await issue({ organizations: ["devs", "ops"] })).certPem);
    const user = await authenticator().authenticate({ headers: {}, clientCertificate });
    expect(user).toMatchObject({ name: "jane", groups: expect.arrayContaining(["devs", "ops"]) });
    expect(user?.groups.at(-1)).toBe("system:authenticated");
    expect(user?.extra?.["authentication.kubernetes.io/credential-id"]?.[0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/);
  });

  it("the same connection gives the same user object, so that decisions can be remembered", async () => {
    const clientCertificate = derOf((await issue({})).certPem);
    const a = authenticator();
    expect(await a.authenticate({ headers: {}, clientCertificate })).toBe(
      await a.authenticate({ headers: {}, clientCertificate }),
    );
  });

  it("expired ones and server certificates are 401, even where anonymous requests pass", async () => {
    const clientCertificate = derOf((await issue({})).certPem);
    const server = derOf((await issue({ usages: ["server"] })).certPem);
    expect(await code(authenticator().authenticate({ headers: {}, clientCertificate: server }))).toBe(401);
    await clock.advance(3_600_001);
    expect(await code(authenticator().authenticate({ headers: {}, clientCertificate }))).toBe(401);
  });
});

describe("tokens", () => {
  const bob: UserInfo = { name: "bob", uid: "b", groups: ["devs"] };
  const bearer = (token: string): { headers: Record<string, string> } => ({
    headers: { authorization: `Bearer ${token}` },
  });
  const authenticator = (more: object = {}) =>
    createAuthenticator({
      anonymous: true,
      clock,
      staticTokens: new Map([["bobtoken", bob]]),
      serviceAccounts: tokens,
      ...more,
    });

  it("without credentials: anonymous or 401", async () => {
    expect(await authenticator().authenticate({ headers: {} })).toEqual({
      name: "system:anonymous",
      groups: ["system:unauthenticated"],
    });
    expect(await code(authenticator({ anonymous: false }).authenticate({ headers: {} }))).toBe(401);
  });

  it("static", async () => {
    expect(await authenticator().authenticate(bearer("bobtoken"))).toEqual({
      ...bob,
      groups: ["devs", "system:authenticated"],
    });
    expect(await code(authenticator().authenticate(bearer("wrong")))).toBe(401);
  });

  it("of service accounts, bound to the account's uid", async () => {
    const sa = account();
    const { token } = await tokens.issue({ serviceAccount: sa, expirationSeconds: 600 });
    expect(await authenticator().authenticate(bearer(token))).toMatchObject({
      name: "system:serviceaccount:default:sa1",
      uid: sa.metadata.uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    const a = authenticator();
    expect(await a.authenticate(bearer(token))).toBe(await a.authenticate(bearer(token)));
    await api.delete(Resources.serviceAccounts, "default", "sa1");
    expect(await code(a.authenticate(bearer(token)))).toBe(401);
    account();
    expect(await code(a.authenticate(bearer(token)))).toBe(401);
  });

  it("of service accounts expire, and are refused when changed or for others", async () => {
    const sa = account();
    const { token } = await tokens.issue({ serviceAccount: sa, expirationSeconds: 600 });
    const other = await tokens.issue({ serviceAccount: sa, expirationSeconds: 600, audiences: ["vault"] });
    expect(await code(authenticator().authenticate(bearer(other.token)))).toBe(401);
    const [head = "", , signature = ""] = token.split(".");
    const claims = Buffer.from(
      JSON.stringify({ iss: ISSUER, aud: [ISSUER], exp: 9e9, sub: "system:serviceaccount:default:sa1" }),
    ).toString("base64url");
    expect(await code(authenticator().authenticate(bearer(`${head}.${claims}.${signature}`)))).toBe(401);
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    expect(await code(authenticator().authenticate(bearer(`${none}.${claims}.`)))).toBe(401);
    expect(await code(authenticator().authenticate(bearer(token)))).toBe(200);
    await clock.advance(600_000);
    expect(await code(authenticator().authenticate(bearer(token)))).toBe(401);
  });

  it("bound to a Secret become invalid with it", async () => {
    const secret = api.put({ apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "default" } });
    const boundObject = { kind: "Secret" as const, name: "s", uid: secret.metadata.uid ?? "" };
    const { token } = await tokens.issue({ serviceAccount: account(), expirationSeconds: 600, boundObject });
    expect(await code(authenticator().authenticate(bearer(token)))).toBe(200);
    await api.delete(Resources.secrets, "default", "s");
    expect(await code(authenticator().authenticate(bearer(token)))).toBe(401);
  });

  describe("for bootstrapping", () => {
    const b64 = (s: string): string => Buffer.from(s).toString("base64");
    const put = (data: Record<string, string>, more: object = {}): void => {
      const all = {
        "token-id": "abcdef",
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
        ...data,
      };
      api.put({
        apiVersion: "v1",
        kind: "Secret",
        type: "bootstrap.kubernetes.io/token",
        metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
        data: Object.fromEntries(Object.entries(all).map(([k, v]) => [k, b64(v)])),
        ...more,
      });
    };
    const a = () =>
      authenticator({
        bootstrapTokens: (id: string) => api.get(Resources.secrets, "kube-system", `bootstrap-token-${id}`),
      });
    const TOKEN = bearer("abcdef.0123456789abcdef");

    it("give a bootstrap user with its extra groups", async () => {
      put({
        "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        expiration: "2026-01-01T01:00:00Z",
      });
      expect(await a().authenticate(TOKEN)).toEqual({
        name: "system:bootstrap:abcdef",
        groups: ["system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:authenticated"],
      });
      await clock.advance(3_600_000);
      expect(await code(a().authenticate(TOKEN))).toBe(401);
    });

    it.each<[string, Record<string, string>, object]>([
      ["another secret", { "token-secret": "0123456789abcdeX" }, {}],
      ["not for authentication", { "usage-bootstrap-authentication": "false" }, {}],
      ["a forbidden group", { "auth-extra-groups": "system:masters" }, {}],
      ["an unreadable expiration", { expiration: "soon" }, {}],
      ["another type", {}, { type: "Opaque" }],
    ])("are refused with %s", async (_, data, more) => {
      put(data, more);
      expect(await code(a().authenticate(TOKEN))).toBe(401);
    });
  });

  describe("of an OpenID Connect issuer", () => {
    const idp = "https://idp.example";
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const signer = signingKey(pair.privateKey);
    let reads: string[];
    const oidc = (more: Partial<OidcOptions> = {}): OidcOptions => ({
      issuerUrl: idp,
      clientId: "capstan",
      groupsClaim: "groups",
      groupsPrefix: "idp:",
      fetchJson: async (url) => {
        reads.push(url);
        return url.endsWith("configuration") ? { issuer: idp, jwks_uri: `${idp}/keys` } : { keys: [signer.jwk] };
      },
      ...more,
    });
    const sign = (claims: object): Promise<string> =>
      signJwt(signer, { iss: idp, aud: "capstan", sub: "u1", exp: clock.now() / 1000 + 60, ...claims });
    beforeEach(() => {
      reads = [];
    });

    it("maps claims to a user and reads the keys once", async () => {
      const a = authenticator({ oidc: oidc() });
      expect(await a.authenticate(bearer(await sign({ groups: ["a", "b"] })))).toEqual({
        name: `${idp}#u1`,
        groups: ["idp:a", "idp:b", "system:authenticated"],
      });
      await a.authenticate(bearer(await sign({ sub: "u2" })));
      expect(reads).toEqual([`${idp}/.well-known/openid-configuration`, `${idp}/keys`]);
    });

    it("uses the configured claim and prefix", async () => {
      const a = authenticator({ oidc: oidc({ usernameClaim: "email" }) });
      expect((await a.authenticate(bearer(await sign({ email: "a@b.c" }))))?.name).toBe("a@b.c");
      for (const email_verified of [false, "false", "true", 1])
        expect(await code(a.authenticate(bearer(await sign({ email: "a@b.d", email_verified }))))).toBe(401);
      expect(await code(a.authenticate(bearer(await sign({ email: "a@b.d", email_verified: true }))))).toBe(200);
    });

    it.each([
      ["", `${idp}#u1`],
      ["-", "u1"],
      ["x:", "x:u1"],
    ])("prefix %j makes the name %s", async (usernamePrefix, name) => {
      const a = authenticator({ oidc: oidc({ usernamePrefix }) });
      expect((await a.authenticate(bearer(await sign({}))))?.name).toBe(name);
    });

    it("takes one group as text, and only tokens with the claims that are required", async () => {
      const a = authenticator({ oidc: oidc({ requiredClaims: { hd: "example.com" } }) });
      const user = await a.authenticate(bearer(await sign({ groups: "a", hd: "example.com" })));
      expect(user?.groups).toEqual(["idp:a", "system:authenticated"]);
      expect(await code(a.authenticate(bearer(await sign({}))))).toBe(401);
      expect(await code(a.authenticate(bearer(await sign({ hd: ["example.com"] }))))).toBe(401);
    });

    it.each(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])("checks what is signed with %s", async (alg) => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
      const claims = { iss: idp, aud: "capstan", sub: "u1", exp: clock.now() / 1000 + 60 };
      const text = `${part({ alg, kid: signer.keyId })}.${part(claims)}`;
      const padding = alg.startsWith("PS") ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
      // RFC 7518, section 3.5: the salt of PS… is as long as the hash.
      const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
      const signature = signBytes(`sha${alg.slice(2)}`, Buffer.from(text), {
        key: pair.privateKey,
        padding,
        saltLength,
      });
      const token = bearer(`${text}.${signature.toString("base64url")}`);
      expect(await code(authenticator({ oidc: oidc({ signingAlgorithms: [alg] }) }).authenticate(token))).toBe(200);
      expect(await code(authenticator({ oidc: oidc({ signingAlgorithms: ["ES256"] }) }).authenticate(token))).toBe(401);
    });

    it.each<[string, object]>([
      ["another audience", { aud: "other" }],
      ["an end in the past", { exp: 1 }],
      ["no user name", { sub: "" }],
      ["groups that are no texts", { groups: ["a", 1] }],
      ["groups of another shape", { groups: { a: true } }],
    ])("refuses %s", async (_, claims) => {
      expect(await code(authenticator({ oidc: oidc() }).authenticate(bearer(await sign(claims))))).toBe(401);
    });

    it("returns 401 while the issuer is unreachable, and retries later but not at once", async () => {
      let up = false;
      const problems: string[] = [];
      const good = oidc();
      const a = authenticator({
        oidc: oidc({
          onProblem: (message) => problems.push(message),
          fetchJson: async (url) => (up ? good.fetchJson?.(url) : Promise.reject(new Error("down"))),
        }),
      });
      expect(await code(a.authenticate(bearer(await sign({}))))).toBe(401);
      up = true;
      expect(await code(a.authenticate(bearer(await sign({}))))).toBe(401);
      await clock.advance(10_000);
      expect(await code(a.authenticate(bearer(await sign({}))))).toBe(200);
      expect(problems).toEqual(["oidc: authenticator not initialized: down"]);
    });
  });
});

describe("impersonation", () => {
  const root: UserInfo = { name: "root", groups: ["system:masters"] };
  const bob: UserInfo = { name: "bob", groups: [] };
  const as = (user: UserInfo, headers: Record<string, string>): UserInfo =>
    impersonate(user, headers, createRbacAuthorizer(api), "/api/v1/nodes");

  it("without headers changes nothing", () => expect(as(bob, {})).toBe(bob));

  // Expectations recorded from kube-apiserver (SelfSubjectReview with the same headers).
  it("takes user, groups, uid and extra", () => {
    const headers = {
      "impersonate-user": "alice",
      "impersonate-group": "g1, g2",
      "impersonate-uid": "77",
      "impersonate-extra-scopes%2fa": "X",
    };
    expect(as(root, headers)).toEqual({
      name: "alice",
      uid: "77",
      groups: ["g1", "g2", "system:authenticated"],
      extra: { "scopes/a": ["X"] },
    });
  });

  it("gives service accounts their groups", () => {
    expect(as(root, { "impersonate-user": "system:serviceaccount:default:sa1" })).toEqual({
      name: "system:serviceaccount:default:sa1",
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
  });

  it("keeps anonymous unauthenticated", () => {
    expect(as(root, { "impersonate-user": "system:anonymous" }).groups).toEqual(["system:unauthenticated"]);
  });

  it("needs the verb impersonate", () => {
    expect(() => as(bob, { "impersonate-user": "alice" })).toThrow(
      `users "alice" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope`,
    );
    expect(() => as(root, { "impersonate-group": "g" })).toThrow(/without impersonating a user/);
  });
});

describe("TokenRequest", () => {
  const request = async (spec: object, more: { name?: string; metadata?: object } = {}): Promise<Unstructured> => {
    const handle = tokenRequestHandler(
      () => tokens,
      () => clock.now(),
    );
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: more.metadata ?? {}, spec };
    const user = { name: "u", groups: [] };
    const target = { namespace: "default", name: more.name ?? "sa1" };
    const nowMs = clock.now();
    return (await handle({ user, ...target, body, dryRun: false, nowMs, api })).object;
  };
  beforeEach(() => {
    account();
  });

  it("answers with a token that works", async () => {
    const answer = await request({});
    expect(answer).toMatchObject({
      metadata: { name: "sa1", namespace: "default" },
      spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null },
      status: { expirationTimestamp: "2026-01-01T01:00:00Z" },
    });
    const { token } = answer["status"] as { token: string };
    expect((await tokens.verify(token))?.user.name).toBe("system:serviceaccount:default:sa1");
    const payload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(Object.keys(payload)).toEqual(["aud", "exp", "iat", "iss", "jti", "kubernetes.io", "nbf", "sub"]);
  });

  // Texts recorded from kube-apiserver.
  it.each<[object, { name?: string; metadata?: object }, string]>([
    [
      { expirationSeconds: 5 },
      {},
      `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes`,
    ],
    [
      { expirationSeconds: 99999999999 },
      {},
      `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 99999999999: may not specify a duration larger than 2^32 seconds`,
    ],
    [{ boundObjectRef: { kind: "Foo", name: "x" } }, {}, "cannot bind token to object of type /, Kind=Foo"],
    [{ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "x" } }, {}, `secrets "x" not found`],
    [
      {},
      { metadata: { name: "zz" } },
      `TokenRequest.authentication.k8s.io "sa1" is invalid: metadata.name: Invalid value: "zz": must match the service account name if specified`,
    ],
    [{}, { name: "none" }, `serviceaccounts "none" not found`],
  ])("refuses %j %j", async (spec, more, message) => {
    await expect(request(spec, more)).rejects.toThrow(message);
  });
});

it("publishes its keys as kube-apiserver does", () => {
  expect(tokens.openidConfiguration()).toEqual({
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/openid/v1/jwks`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  });
  expect(Object.keys(tokens.jwks().keys[0] ?? {})).toEqual(["use", "kty", "kid", "crv", "alg", "x", "y"]);
});

describe("reviews", () => {
  const root: UserInfo = { name: "root", groups: ["system:masters"] };
  let rbac: RbacAuthorizer;
  const create = async (
    kind: string,
    spec: object | undefined,
    o: { user?: UserInfo; namespace?: string; metadata?: object } = {},
  ): Promise<Unstructured> => {
    const authenticator = createAuthenticator({
      anonymous: true,
      clock,
      serviceAccounts: tokens,
      staticTokens: new Map([["bobtoken", { name: "bob", uid: "bob-uid", groups: ["devs"] }]]),
    });
    const type = reviewTypes({ authorizer: () => rbac, authenticator: () => authenticator, clock }).find(
      (t) => t.kind === kind,
    );
    const object = {
      apiVersion: `${type?.group}/v1`,
      kind,
      metadata: o.metadata ?? {},
      spec,
    };
    const answer = await type?.strategy.createOnly?.(object, {
      user: o.user ?? root,
      namespace: o.namespace ?? "",
      api,
    });
    if (answer === undefined) throw new Error("no such type");
    return answer;
  };
  beforeEach(() => {
    rbac = createRbacAuthorizer(api);
  });

  it("who am I", async () => {
    expect((await create("SelfSubjectReview", undefined))["status"]).toEqual({
      userInfo: { username: "root", groups: ["system:masters"] },
    });
  });

  it("access", async () => {
    const resourceAttributes = { verb: "get", resource: "pods", namespace: "default" };
    expect((await create("SelfSubjectAccessReview", { resourceAttributes }))["status"]).toEqual({ allowed: true });
    expect((await create("SubjectAccessReview", { user: "bob", resourceAttributes }))["status"]).toEqual({
      allowed: false,
    });
    expect(
      await create("LocalSubjectAccessReview", { user: "bob", resourceAttributes }, { namespace: "default" }),
    ).toMatchObject({
      metadata: { namespace: "default" },
      status: { allowed: false },
    });
  });

  // Texts recorded from kube-apiserver.
  it.each<[string, object, string]>([
    [
      "SubjectAccessReview",
      { resourceAttributes: {}, nonResourceAttributes: { path: "/x", verb: "get" } },
      `.authorization.k8s.io "" is invalid: [spec: Invalid value: {"Path":"/x","Verb":"get"}: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]`,
    ],
    [
      "SubjectAccessReview",
      { user: "bob" },
      `.authorization.k8s.io "" is invalid: spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
    ],
    [
      "LocalSubjectAccessReview",
      { user: "b", resourceAttributes: { verb: "get", resource: "pods" } },
      `.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace`,
    ],
    [
      "LocalSubjectAccessReview",
      { user: "b", nonResourceAttributes: { path: "/", verb: "get" } },
      `.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request`,
    ],
    ["SelfSubjectRulesReview", {}, "no namespace on request"],
    ["TokenReview", {}, "token is required for TokenReview in authentication"],
  ])("refuses %s %j", async (kind, spec, message) => {
    await expect(create(kind, spec, { namespace: "default" })).rejects.toThrow(message);
  });

  it("refuses metadata", async () => {
    await expect(
      create("SubjectAccessReview", { user: "b", resourceAttributes: {} }, { metadata: { name: "a" } }),
    ).rejects.toThrow(/metadata: Invalid value: .*must be empty/);
  });

  it("tokens", async () => {
    expect((await create("TokenReview", { token: "bobtoken" }))["status"]).toEqual({
      authenticated: true,
      user: { username: "bob", uid: "bob-uid", groups: ["devs", "system:authenticated"] },
      audiences: [ISSUER],
    });
    expect((await create("TokenReview", { token: "bad" }))["status"]).toEqual({
      user: {},
      error: "invalid bearer token",
    });
    expect((await create("TokenReview", { token: "bobtoken", audiences: ["x"] }))["status"]).toEqual({
      user: {},
      error: "invalid bearer token",
    });
    const { token } = await tokens.issue({ serviceAccount: account(), expirationSeconds: 600, audiences: ["x"] });
    expect((await create("TokenReview", { token }))["status"]).toEqual({
      user: {},
      error: `[invalid bearer token, token audiences ["x"] is invalid for the target audiences ["${ISSUER}"]]`,
    });
    expect((await create("TokenReview", { token, audiences: ["x", "y"] }))["status"]).toMatchObject({
      authenticated: true,
      audiences: ["x"],
    });
  });
});
