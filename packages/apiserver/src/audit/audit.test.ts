import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, type Unstructured, type UserInfo, VirtualClock } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { impersonate } from "../auth/impersonation.ts";
import { ask, askPath } from "../auth/testing/tiny-api.ts";
import type { ApiCall } from "../server/api-call.ts";
import type { Reply } from "../server/reply.ts";
import type { RequestAttributes, ResourceType } from "../types.ts";
import { createAudit } from "./audit.ts";
import { auditFile } from "./audit-file.ts";
import { type AuditPolicy, type AuditRule, auditLevel, DEFAULT_AUDIT_POLICY } from "./audit-policy.ts";

const bob: UserInfo = { name: "bob", groups: ["devs"] };
const call: ApiCall = {
  method: "POST",
  path: "/api/v1/namespaces/default/secrets",
  query: new URLSearchParams({ dryRun: "All" }),
  headers: { "user-agent": "kubectl", authorization: "Bearer very-secret" },
  sourceAddress: "192.0.2.1",
  body: () => ({ type: "none" }),
  warnings: [],
  warn: () => {},
};
const OK: Reply = { status: 201, body: { type: "object", object: {} } };

function recordOne(
  attributes: RequestAttributes,
  object: Unstructured | undefined,
  reply: Reply,
  policy?: AuditPolicy,
): string[] {
  const lines: string[] = [];
  const audit = createAudit((line) => lines.push(line), {
    clock: new VirtualClock(),
    random: seededRandom(1),
    policy,
  });
  const done = audit.observer.begin(call, attributes);
  const type = {} as ResourceType;
  if (audit.plugin.handles(type, "CREATE", ""))
    void audit.plugin.mutate?.({
      attributes,
      operation: "CREATE",
      type,
      object,
      oldObject: undefined,
      dryRun: false,
      options: {},
      warn: () => {},
    });
  done(reply);
  return lines;
}

describe("the policy", () => {
  it.each<[RequestAttributes, string]>([
    [ask(bob, "create", "core/configmaps", "ns/"), "Metadata"],
    [ask(bob, "get", "core/configmaps", "ns/a"), "None"],
    [ask(bob, "get", "core/secrets", "ns/a"), "Metadata"],
    [ask(bob, "create", "core/serviceaccounts/token", "ns/a"), "Metadata"],
    [ask(bob, "update", "coordination.k8s.io/leases", "ns/a"), "None"],
    [askPath(bob, "get", "/healthz"), "None"],
  ])("by default: %#", (request, level) => expect(auditLevel(DEFAULT_AUDIT_POLICY, request)).toBe(level));

  it.each<[Omit<AuditRule, "level">, boolean]>([
    [{ users: ["bob"] }, true],
    [{ users: ["eve"] }, false],
    [{ userGroups: ["ops", "devs"] }, true],
    [{ verbs: ["get"] }, false],
    [{ namespaces: ["ns"] }, true],
    [{ namespaces: ["other"] }, false],
    [{ resources: [{ group: "apps" }] }, true],
    [{ resources: [{ group: "apps", resources: ["deployments"] }] }, false],
    [{ resources: [{ group: "apps", resources: ["deployments/*"] }] }, true],
    [{ resources: [{ group: "apps", resources: ["*/scale"], resourceNames: ["other"] }] }, false],
    [{ nonResourceURLs: ["*"] }, false],
  ])("rule %j", (rule, matches) => {
    const request = ask(bob, "update", "apps/deployments/scale", "ns/d");
    expect(auditLevel({ rules: [{ level: "Metadata", ...rule }] }, request)).toBe(matches ? "Metadata" : "None");
  });
});

describe("events", () => {
  it("have kube-apiserver's form", () => {
    const [line = ""] = recordOne(ask(bob, "create", "core/secrets", "default/s"), undefined, OK);
    expect(JSON.parse(line)).toEqual({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      auditID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      stage: "ResponseComplete",
      requestURI: "/api/v1/namespaces/default/secrets?dryRun=All",
      verb: "create",
      user: { username: "bob", groups: ["devs"] },
      sourceIPs: ["192.0.2.1"],
      userAgent: "kubectl",
      objectRef: { resource: "secrets", namespace: "default", name: "s", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
      stageTimestamp: "2026-01-01T00:00:00.000000Z",
    });
    expect(line).not.toContain("very-secret");
  });

  it("name both users of an impersonated request", () => {
    const authorizer = {
      authorize: () => ({ allowed: true, reason: "" }),
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [] }),
    };
    const alice = impersonate(bob, { "impersonate-user": "alice" }, authorizer, "/");
    const [line = ""] = recordOne(ask(alice, "delete", "core/pods", "ns/a"), undefined, OK);
    expect(JSON.parse(line)).toMatchObject({ user: { username: "bob" }, impersonatedUser: { username: "alice" } });
  });

  it("name a new object by its generated name", () => {
    const made: Reply = { status: 201, body: { type: "object", object: { metadata: { name: "c-x7k2p" } } } };
    const [line = ""] = recordOne(ask(bob, "create", "core/configmaps", "default/"), undefined, made);
    expect(JSON.parse(line).objectRef.name).toBe("c-x7k2p");
  });

  it("report why a request was rejected", () => {
    const refused: Reply = { status: 403, body: { type: "object", object: { message: "no", reason: "Forbidden" } } };
    const [line = ""] = recordOne(ask(bob, "delete", "core/pods", "ns/a"), undefined, refused);
    expect(JSON.parse(line).responseStatus).toEqual({
      metadata: {},
      status: "Failure",
      message: "no",
      reason: "Forbidden",
      code: 403,
    });
  });

  it("are not written for requests that the policy excludes", () => {
    expect(recordOne(ask(bob, "get", "core/pods", "ns/a"), undefined, OK)).toEqual([]);
  });
});

describe("objects", () => {
  const everything: AuditPolicy = { rules: [{ level: "Request" }] };
  const SECRET = "c2VjcmV0LXZhbHVl";
  const object = (more: object): Unstructured => ({ apiVersion: "v1", kind: "X", metadata: { name: "x" }, ...more });

  it("are recorded at level Request", () => {
    const [line = ""] = recordOne(
      ask(bob, "create", "apps/deployments", "ns/"),
      object({ spec: { replicas: 3 } }),
      OK,
      everything,
    );
    expect(JSON.parse(line).requestObject).toEqual(object({ spec: { replicas: 3 } }));
  });

  it.each<[string, RequestAttributes, object]>([
    ["Secret data", ask(bob, "create", "core/secrets", "ns/"), { data: { k: SECRET }, stringData: { l: SECRET } }],
    [
      "ConfigMap data",
      ask(bob, "create", "core/configmaps", "ns/"),
      { data: { k: SECRET }, binaryData: { k: SECRET } },
    ],
    [
      "the copy kubectl keeps",
      ask(bob, "create", "core/secrets", "ns/"),
      { metadata: { name: "x", annotations: { "kubectl.kubernetes.io/last-applied-configuration": SECRET } } },
    ],
    ["token requests", ask(bob, "create", "core/serviceaccounts/token", "ns/a"), { status: { other: SECRET } }],
    ["token reviews", ask(bob, "create", "authentication.k8s.io/tokenreviews"), { spec: { other: SECRET } }],
    [
      "fields named as secrets",
      ask(bob, "create", "x.y/things", "ns/"),
      { spec: { deep: [{ bootstrapToken: SECRET, adminPassword: SECRET }], kubeconfig: SECRET } },
    ],
    [
      "private keys",
      ask(bob, "create", "x.y/things", "ns/"),
      { spec: { content: `-----BEGIN EC PRIVATE KEY-----\n${SECRET}` } },
    ],
  ])("never show %s", (_, attributes, more) => {
    const [line = ""] = recordOne(attributes, object(more), OK, everything);
    expect(line).not.toBe("");
    expect(line).not.toContain(SECRET);
  });
});

it("files are private and are rotated when full", async () => {
  const dir = mkdtempSync(join(tmpdir(), "audit-"));
  try {
    const path = join(dir, "audit.log");
    const file = await auditFile(path, {
      maxBytes: 20,
      keep: 2,
      onError: (error) => {
        throw error;
      },
    });
    for (const line of ["first-first-first-first", "second", "third-third-third", "fourth"]) file.sink(line);
    await file.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const all = [`${path}.2`, `${path}.1`, path].map((p) => readFileSync(p, "utf8"));
    expect(all).toEqual(["first-first-first-first\n", "second\nthird-third-third\n", "fourth\n"]);
    const again = await auditFile(path, { onError: () => {} });
    again.sink("fifth");
    await again.close();
    expect(readFileSync(path, "utf8")).toBe("fourth\nfifth\n");
  } finally {
    rmSync(dir, { recursive: true });
  }
});
