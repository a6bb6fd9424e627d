import { createServer, type Server } from "node:https";
import { ApiError, deepCopy, seededRandom, settle, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ask, tinyApi } from "../auth/testing/tiny-api.ts";
import { configMap } from "../builtin/core/config-map.ts";
import type { AdmissionRequest, ResourceRegistry, ResourceType } from "../types.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { webhookAdmission } from "./webhook-admission.ts";

interface Review {
  request: Record<string, unknown> & { uid: string; object: Unstructured | null };
}
type Handler = (review: Review) => object | string | number | undefined;

let ca: CertificateAndKey;
let server: Server;
let port: number;
let handlers: Map<string, Handler>;
let calls: { path: string; review: Review }[];
beforeAll(async () => {
  const long = { notBeforeMs: Date.UTC(2020, 0), validMs: 3e12, random: seededRandom(1) };
  ca = await createCertificateAuthority({ commonName: "webhooks", ...long });
  const leaf = await issueCertificate(ca, {
    commonName: "hook",
    dnsNames: ["hook.default.svc"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    nowMs: long.notBeforeMs,
    validMs: long.validMs,
    random: seededRandom(2),
  });
  server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (req, res) => {
    let body = "";
    req.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    req.on("end", () => {
      const review: Review = JSON.parse(body);
      const path = (req.url ?? "").split("?")[0] ?? "";
      calls.push({ path, review });
      const answer = handlers.get(path)?.(review);
      if (answer === undefined) return; // never answers
      if (typeof answer === "number") res.writeHead(answer).end("broken");
      else if (typeof answer === "string") res.end(answer);
      else
        res.end(
          JSON.stringify({
            apiVersion: "admission.k8s.io/v1",
            kind: "AdmissionReview",
            response: { uid: review.request.uid, ...answer },
          }),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let api: ReturnType<typeof tinyApi>;
let clock: VirtualClock;
let plugin: ReturnType<typeof webhookAdmission>;
let warnings: string[];
beforeEach(() => {
  api = tinyApi();
  clock = new VirtualClock();
  handlers = new Map();
  calls = [];
  warnings = [];
  api.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: "default", labels: { env: "test" } } });
  plugin = webhookAdmission({
    api,
    registry: { types: () => [configMap] } as unknown as ResourceRegistry,
    clock,
    random: seededRandom(3),
    authorizer: {
      authorize: () => ({ allowed: false, reason: "" }),
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [] }),
    },
    compile: (expression) => (variables) => {
      if (expression === "fail") throw new Error("no such key: x");
      return (
        expression === `object.metadata.name == "c"` && (variables["object"] as Unstructured).metadata.name === "c"
      );
    },
  });
});
afterEach(() => plugin.close());

const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
const configure = (kind: "Mutating" | "Validating", name: string, ...hooks: object[]): void => {
  api.put({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: hooks.map((hook, i) => ({
      name: `${name}${i}.example.com`,
      clientConfig: {
        url: `https://127.0.0.1:${port}/${name}${i}`,
        caBundle: Buffer.from(ca.certPem).toString("base64"),
      },
      rules: [RULE],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...hook,
    })),
  });
};
const object: Unstructured = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "c", namespace: "default" },
  data: { a: "1" },
};
const make = (o: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  attributes: ask({ name: "bob", groups: ["devs"] }, "create", "core/configmaps", "default/"),
  operation: "CREATE",
  type: configMap,
  object: deepCopy(object),
  oldObject: undefined,
  dryRun: false,
  options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  warn: (text) => warnings.push(text),
  ...o,
});
const run = async (request = make()): Promise<Unstructured | string | undefined> => {
  try {
    if (!plugin.handles(request.type, request.operation, request.attributes.subresource)) return "not handled";
    await plugin.mutate?.(request);
    await plugin.validate?.(request);
    return request.object;
  } catch (error) {
    return error instanceof ApiError ? `${error.code} ${error.reason} ${error.message}` : String(error);
  }
};
const patch = (...ops: object[]): object => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(ops)).toString("base64"),
});

const dataOf = (request: Review["request"]): Record<string, string> =>
  (request.object?.["data"] ?? {}) as Record<string, string>;

describe("webhooks", () => {
  it("cost nothing while there are none, and are never called for their own configurations", async () => {
    expect(await run()).toBe("not handled");
    configure("Mutating", "m", { rules: [{ ...RULE, apiGroups: ["*"], resources: ["*"] }] });
    const own = {
      ...configMap,
      group: "admissionregistration.k8s.io",
      plural: "mutatingwebhookconfigurations",
    } as ResourceType;
    expect(plugin.handles(own, "CREATE", "")).toBe(false);
  });

  it("see the request as the real server sends it", async () => {
    configure("Validating", "v", {});
    handlers.set("/v0", () => ({ allowed: true, warnings: ["careful"] }));
    expect(await run()).toEqual(object);
    expect(calls[0]?.review).toEqual({
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: { group: "", version: "v1", kind: "ConfigMap" },
        resource: { group: "", version: "v1", resource: "configmaps" },
        requestKind: { group: "", version: "v1", kind: "ConfigMap" },
        requestResource: { group: "", version: "v1", resource: "configmaps" },
        name: "c",
        namespace: "default",
        operation: "CREATE",
        userInfo: { username: "bob", groups: ["devs"] },
        object,
        oldObject: null,
        dryRun: false,
        options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
      },
    });
    expect(warnings).toEqual(["careful"]);
  });

  it("change objects in the order of their names, each seeing the one before; validating ones see the result", async () => {
    configure("Mutating", "b", {});
    configure("Mutating", "a", {}, {});
    configure("Validating", "z", {});
    handlers.set("/a0", () => patch({ op: "add", path: "/data/x", value: "0" }));
    handlers.set("/a1", () => patch({ op: "replace", path: "/data/x", value: "1" }));
    handlers.set("/b0", ({ request }) => patch({ op: "add", path: "/data/y", value: dataOf(request)["x"] }));
    handlers.set("/z0", ({ request }) => ({
      allowed: dataOf(request)["y"] === "1",
    }));
    expect(await run()).toMatchObject({ data: { a: "1", x: "1", y: "1" } });
    expect(calls.map((c) => c.path)).toEqual(["/a0", "/a1", "/b0", "/z0"]);
  });

  it("are reinvoked when a later one changed the object and they request it", async () => {
    configure("Mutating", "a", { reinvocationPolicy: "IfNeeded" });
    configure("Mutating", "b", {});
    handlers.set("/a0", ({ request }) =>
      patch({
        op: "add",
        path: "/metadata/labels",
        value: { n: String(Object.keys(request.object?.["data"] ?? {}).length) },
      }),
    );
    handlers.set("/b0", () => patch({ op: "add", path: "/data/b", value: "2" }));
    expect(await run()).toMatchObject({ metadata: { labels: { n: "2" } } });
    expect(calls.map((c) => c.path)).toEqual(["/a0", "/b0", "/a0"]);
  });

  it.each<[string, object, string]>([
    [
      "a message",
      { allowed: false, status: { message: "no", code: 403, reason: "Forbidden" } },
      `403 Forbidden admission webhook "v0.example.com" denied the request: no`,
    ],
    [
      "a reason",
      { allowed: false, status: { reason: "Because" } },
      `400 Because admission webhook "v0.example.com" denied the request: Because`,
    ],
    ["nothing", { allowed: false }, `400  admission webhook "v0.example.com" denied the request without explanation`],
    [
      "a code below 400",
      { allowed: false, status: { message: "x", code: 200 } },
      `400  admission webhook "v0.example.com" denied the request: x`,
    ],
  ])("deny with %s", async (_, answer, text) => {
    configure("Validating", "v", {});
    handlers.set("/v0", () => answer);
    expect(await run()).toBe(text);
  });

  it.each<[string, Handler, string]>([
    ["no response", () => "{}", "received invalid webhook response: webhook response was absent"],
    ["another uid", () => ({ uid: "x", allowed: true }), `received invalid webhook response: expected response.uid=`],
    [
      "a patch",
      () => patch({ op: "add", path: "/data/x", value: "0" }),
      "received invalid webhook response: validating webhook may not return response.patch",
    ],
    ["no JSON", () => "<html>", "failed to call webhook: couldn't parse webhook response"],
    [
      "500",
      () => 500,
      `failed to call webhook: an error on the server ("broken") has prevented the request from succeeding`,
    ],
    ["404", () => 404, "failed to call webhook: the server could not find the requested resource"],
  ])("that answer %s fail closed, or open by policy", async (_, handler, text) => {
    configure("Validating", "v", {});
    handlers.set("/v0", handler);
    expect(await run()).toContain(
      `500 InternalError Internal error occurred: failed calling webhook "v0.example.com": ${text}`,
    );
    configure("Validating", "v", { failurePolicy: "Ignore" });
    expect(await run()).toEqual(object);
  });

  it("that cannot be reached fail with Go's messages", async () => {
    configure("Validating", "v", { clientConfig: { url: "https://127.0.0.1:1/x" } });
    expect(await run()).toBe(
      `500 InternalError Internal error occurred: failed calling webhook "v0.example.com": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
    configure("Validating", "v", { clientConfig: { url: `https://127.0.0.1:${port}/v0` } });
    expect(await run()).toContain("tls: failed to verify certificate: x509: certificate signed by unknown authority");
  });

  it("that never answer time out", async () => {
    configure("Validating", "v", { timeoutSeconds: 3 });
    handlers.set("/v0", () => undefined);
    const result = run();
    while (calls.length === 0) await settle();
    await clock.advance(3000);
    expect(await result).toContain(`/v0?timeout=3s": context deadline exceeded`);
  });

  it("with side effects reject a dry run", async () => {
    configure("Validating", "v", { sideEffects: "Some" });
    expect(await run(make({ dryRun: true }))).toBe(
      `400 BadRequest admission webhook "v0.example.com" does not support dry run`,
    );
    configure("Validating", "v", { sideEffects: "NoneOnDryRun" });
    handlers.set("/v0", () => ({ allowed: true }));
    expect(await run(make({ dryRun: true }))).toEqual(object);
  });

  it("with a broken patch are an internal error", async () => {
    configure("Mutating", "m", {});
    handlers.set("/m0", () => patch({ op: "remove", path: "/data/none" }));
    expect(await run()).toContain("500 InternalError");
  });

  it.each<[string, object, boolean]>([
    ["another operation", { rules: [{ ...RULE, operations: ["UPDATE"] }] }, false],
    ["a subresource", { rules: [{ ...RULE, resources: ["configmaps/status"] }] }, false],
    ["everything", { rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] }] }, true],
    ["cluster scope", { rules: [{ ...RULE, scope: "Cluster" }] }, false],
    ["labels of another namespace", { namespaceSelector: { matchLabels: { env: "prod" } } }, false],
    ["labels of the namespace", { namespaceSelector: { matchLabels: { env: "test" } } }, true],
    ["labels the object lacks", { objectSelector: { matchLabels: { a: "b" } } }, false],
    ["a condition that holds", { matchConditions: [{ name: "x", expression: `object.metadata.name == "c"` }] }, true],
    ["a condition that does not", { matchConditions: [{ name: "x", expression: "false" }] }, false],
    [
      "a condition that fails, and Ignore",
      { failurePolicy: "Ignore", matchConditions: [{ name: "x", expression: "fail" }] },
      false,
    ],
  ])("for %s: asked %#", async (_, hook, asked) => {
    configure("Validating", "v", hook);
    handlers.set("/v0", () => ({ allowed: true }));
    await run();
    expect(calls.length > 0).toBe(asked);
  });

  it("whose condition fails deny the request", async () => {
    configure("Validating", "v", { matchConditions: [{ name: "x", expression: "fail" }] });
    expect(await run()).toBe(
      `403 Forbidden configmaps "c" is forbidden: expression 'fail' resulted in error: no such key: x`,
    );
  });

  it("of a Service are found by its endpoints, with the Service's name in TLS", async () => {
    const caBundle = Buffer.from(ca.certPem).toString("base64");
    configure("Validating", "v", {
      clientConfig: { caBundle, service: { namespace: "default", name: "hook", path: "/v0" } },
    });
    handlers.set("/v0", () => ({ allowed: true }));
    expect(await run()).toContain(`Post "https://hook.default.svc:443/v0?timeout=10s": service "hook" not found`);
    api.put({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "hook", namespace: "default" },
      spec: { ports: [{ port: 443 }] },
    });
    const subsets = [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port }] }];
    await api.create(
      { group: "", plural: "endpoints" },
      { apiVersion: "v1", kind: "Endpoints", metadata: { name: "hook", namespace: "default" }, subsets },
      "test",
    );
    expect(await run()).toEqual(object);
  });
});

describe("namespace lifecycle", () => {
  const create = (namespace: string, metadata: object = { name: "a" }): string => {
    try {
      const attributes = ask({ name: "bob", groups: [] }, "create", "core/configmaps", `${namespace}/`);
      void namespaceLifecycle(api).mutate?.(make({ attributes, object: { ...object, metadata } }));
      return "ok";
    } catch (error) {
      return error instanceof ApiError ? `${error.code} ${error.message}` : String(error);
    }
  };

  // Texts recorded from kube-apiserver.
  it("rejects objects in a missing or terminating namespace", () => {
    api.put({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "term", deletionTimestamp: "2026-01-01T00:00:00Z" },
    });
    expect(create("default")).toBe("ok");
    expect(create("nope")).toBe(`404 namespaces "nope" not found`);
    const text = `403 configmaps "a" is forbidden: unable to create new content in namespace term because it is being terminated`;
    expect(create("term")).toBe(text);
    expect(create("term", { generateName: "a" })).toBe(text);
  });

  it("keeps the system's namespaces", () => {
    const type = { ...configMap, plural: "namespaces", namespaced: false } as ResourceType;
    const plugin = namespaceLifecycle(api);
    const remove = (name: string): void => {
      const attributes = ask({ name: "bob", groups: [] }, "delete", "core/namespaces", `/${name}`);
      void plugin.mutate?.(make({ attributes, type, operation: "DELETE", object: undefined }));
    };
    expect(plugin.handles(type, "DELETE", "")).toBe(true);
    expect(() => remove("kube-system")).toThrow(
      `namespaces "kube-system" is forbidden: this namespace may not be deleted`,
    );
    expect(() => remove("mine")).not.toThrow();
  });
});
