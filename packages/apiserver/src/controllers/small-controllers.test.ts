import { formatTime, type Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { startCsrCleaner } from "./csr-cleaner.ts";
import { startEventCleaner } from "./event-cleaner.ts";
import { startNamespaceDefaults } from "./namespace-defaults.ts";
import { startRoleAggregation } from "./role-aggregation.ts";
import { startControllers } from "./start.ts";
import { CONFIG_MAPS, type Harness, harness, NAMESPACES } from "./testing/harness.ts";
import { startTokenCleaner } from "./token-cleaner.ts";

const HOUR = 3_600_000;
const ACCOUNTS = { group: "", plural: "serviceaccounts" };
const SECRETS = { group: "", plural: "secrets" };
const ROLES = { group: "rbac.authorization.k8s.io", plural: "clusterroles" };
const REQUESTS = { group: "certificates.k8s.io", plural: "certificatesigningrequests" };

describe("namespace defaults", () => {
  it("creates and restores the account and root certificate of every namespace", async () => {
    const h = await harness(startNamespaceDefaults, { rootCaPem: "PEM" });
    await h.api.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } }, "test");
    await h.settled();
    for (const namespace of ["default", "team"]) {
      expect(h.api.get(ACCOUNTS, namespace, "default")).toBeDefined();
      expect(h.api.get(CONFIG_MAPS, namespace, "kube-root-ca.crt")?.["data"]).toEqual({ "ca.crt": "PEM" });
    }
    await h.api.delete(ACCOUNTS, "team", "default");
    await h.api.update(CONFIG_MAPS, "team", "kube-root-ca.crt", "test", (o) => {
      o["data"] = { "ca.crt": "forged" };
    });
    await h.api.delete(CONFIG_MAPS, "default", "kube-root-ca.crt");
    await h.settled();
    expect(h.api.get(ACCOUNTS, "team", "default")).toBeDefined();
    expect(h.api.get(CONFIG_MAPS, "team", "kube-root-ca.crt")?.["data"]).toEqual({ "ca.crt": "PEM" });
    expect(h.api.get(CONFIG_MAPS, "default", "kube-root-ca.crt")?.["data"]).toEqual({ "ca.crt": "PEM" });
    expect(h.errors).toEqual([]);
  });

  it("publishes no certificate when there is none", async () => {
    const h = await harness(startNamespaceDefaults);
    expect(h.api.list(CONFIG_MAPS)).toEqual([]);
    expect(h.api.get(ACCOUNTS, "default", "default")).toBeDefined();
  });
});

describe("bootstrap tokens", () => {
  const token = (id: string, expiration: string | undefined): Unstructured => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    data: {
      "token-id": Buffer.from(id).toString("base64"),
      "token-secret": Buffer.from("0123456789abcdef").toString("base64"),
      ...(expiration === undefined ? {} : { expiration: Buffer.from(expiration).toString("base64") }),
    },
  });
  const left = (h: Harness): (string | undefined)[] =>
    h.api.list(SECRETS, "kube-system").map((secret) => secret.metadata.name?.slice("bootstrap-token-".length));

  it("are deleted when they expire, and never without an expiration", async () => {
    const h = await harness(startTokenCleaner);
    const at = (ms: number): string => formatTime(h.clock.now() + ms);
    for (const secret of [token("aaaaaa", at(HOUR)), token("bbbbbb", at(2 * HOUR)), token("cccccc", undefined)])
      await h.api.create(SECRETS, secret, "test");
    await h.clock.advance(HOUR - 1000);
    expect(left(h)).toEqual(["aaaaaa", "bbbbbb", "cccccc"]);
    await h.clock.advance(1000);
    expect(left(h)).toEqual(["bbbbbb", "cccccc"]);
    await h.api.update(SECRETS, "kube-system", "bootstrap-token-bbbbbb", "test", (o) => {
      o["data"] = { ...(o["data"] as object), expiration: Buffer.from(at(5 * HOUR)).toString("base64") };
    });
    await h.clock.advance(2 * HOUR);
    expect(left(h)).toEqual(["bbbbbb", "cccccc"]);
    await h.clock.advance(3 * HOUR);
    expect(left(h)).toEqual(["cccccc"]);
    expect(h.clock.nextTimer()).toBeUndefined();
  });
});

describe("role aggregation", () => {
  const role = (name: string, rules: unknown[], labels: Record<string, string> = {}): Unstructured => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name, labels },
    rules,
  });
  const rule = (resource: string): object => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });

  it("follows the roles its selectors match", async () => {
    const h = await harness(startRoleAggregation);
    const target: Unstructured = {
      ...role("sum", []),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: "yes" } }] },
    };
    await h.api.create(ROLES, target, "test");
    await h.api.create(ROLES, role("b", [rule("pods"), rule("nodes")], { part: "yes" }), "test");
    await h.api.create(ROLES, role("a", [rule("pods")], { part: "yes" }), "test");
    await h.api.create(ROLES, role("c", [rule("secrets")]), "test");
    await h.settled();
    const rules = (): unknown => h.api.get(ROLES, "", "sum")?.["rules"];
    expect(rules()).toEqual([rule("pods"), rule("nodes")]);
    await h.api.update(ROLES, "", "c", "test", (o) => {
      o.metadata.labels = { part: "yes" };
    });
    await h.settled();
    expect(rules()).toEqual([rule("pods"), rule("nodes"), rule("secrets")]);
    await h.api.delete(ROLES, "", "b");
    await h.settled();
    expect(rules()).toEqual([rule("pods"), rule("secrets")]);
    const before = h.writes();
    await h.clock.advance(HOUR);
    expect(h.writes()).toBe(before);
  });
});

describe("certificate signing requests", () => {
  async function request(h: Harness, name: string, condition?: string, certificate?: string): Promise<void> {
    const metadata = { name };
    const body = {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata,
      spec: { request: REQUEST, signerName: "example.test/signer", usages: ["client auth"] },
    };
    await h.api.create(REQUESTS, body, "test");
    if (condition === undefined) return;
    const time = formatTime(h.clock.now());
    await h.api.update(
      REQUESTS,
      "",
      name,
      "test",
      (o) => {
        o["status"] = {
          conditions: [
            {
              type: condition,
              status: "True",
              reason: "r",
              message: "m",
              lastUpdateTime: time,
              lastTransitionTime: time,
            },
          ],
        };
      },
      condition === "Failed" ? "status" : "approval",
    );
    if (certificate === undefined) return;
    await h.api.update(
      REQUESTS,
      "",
      name,
      "test",
      (o) => {
        o["status"] = { ...(o["status"] as object), certificate };
      },
      "status",
    );
  }
  const left = (h: Harness): (string | undefined)[] => h.api.list(REQUESTS).map((o) => o.metadata.name);

  it("are deleted an hour after they are settled, or after a day while pending", async () => {
    const h = await harness(startCsrCleaner);
    await request(h, "pending");
    await request(h, "denied", "Denied");
    await request(h, "failed", "Failed");
    await request(h, "approved", "Approved");
    await request(h, "issued", "Approved", CERTIFICATE);
    expect(h.errors).toEqual([]);
    await h.clock.advance(HOUR - 1000);
    expect(left(h)).toEqual(["approved", "denied", "failed", "issued", "pending"]);
    await h.clock.advance(2000);
    expect(left(h)).toEqual(["approved", "pending"]);
    await h.clock.advance(23 * HOUR);
    expect(left(h)).toEqual([]);
    expect(h.clock.nextTimer()).toBeUndefined();
  });
});

describe("events", () => {
  const MINUTE = 60_000;
  const EVENTS = { group: "", plural: "events" };
  const event = (name: string, more: object = {}): Unstructured => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: "default" },
    involvedObject: { kind: "Thing", namespace: "default", name: "x" },
    ...more,
  });
  const left = (h: Harness): (string | undefined)[] => h.api.list(EVENTS).map((o) => o.metadata.name);

  it("about clusters are kept for a week as history, the newest of each object", async () => {
    const h = await harness(startEventCleaner);
    const involvedObject = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      namespace: "default",
      name: "demo",
    };
    for (let i = 0; i < 60; i++) await h.api.create(EVENTS, event(`h${i}`, { involvedObject }), "test");
    await h.clock.advance(24 * 3_600_000);
    const names = (): string[] => h.api.list(EVENTS, "default").map(({ metadata }) => metadata.name ?? "");
    expect(names()).toHaveLength(50);
    expect(names()).not.toContain("h9");
    expect(names()).toContain("h10");
    await h.clock.advance(7 * 24 * 3_600_000);
    expect(names()).toEqual([]);
  });

  it("expire an hour after their last write, whichever API wrote them", async () => {
    const h = await harness(startEventCleaner);
    await h.api.create(EVENTS, event("a"), "test");
    await h.api.create(EVENTS, event("b"), "test");
    const { involvedObject, ...rest } = event("c", {
      apiVersion: "events.k8s.io/v1",
      eventTime: "2026-01-01T00:00:00.000000Z",
      type: "Normal",
      reason: "Made",
      action: "Make",
      reportingController: "example.test/maker",
      reportingInstance: "maker-1",
    });
    const body = { ...rest, regarding: involvedObject };
    const made = await h.server.admin().request({
      method: "POST",
      path: "/apis/events.k8s.io/v1/namespaces/default/events",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    await h.clock.advance(30 * MINUTE);
    await h.api.update(EVENTS, "default", "b", "test", (o) => {
      o["count"] = 2;
    });
    await h.clock.advance(29 * MINUTE);
    expect(left(h)).toEqual(["a", "b", "c"]);
    await h.clock.advance(2 * MINUTE);
    expect(left(h)).toEqual(["b"]);
    await h.clock.advance(28 * MINUTE);
    expect(left(h)).toEqual(["b"]);
    await h.clock.advance(2 * MINUTE);
    expect(left(h)).toEqual([]);
    expect(h.clock.nextTimer()).toBeUndefined();
    expect(h.controller.idle()).toBe(true);
    expect(h.errors).toEqual([]);
  });

  it("from before a restart expire by their own timestamps, none of which is trusted to lie in the future", async () => {
    const h = await harness(startEventCleaner, {
      prepare: async (api) => {
        await api.create(EVENTS, event("ahead", { lastTimestamp: "2999-01-01T00:00:00Z" }), "test");
        await api.create(EVENTS, event("plain"), "test");
      },
    });
    await h.clock.advance(59 * MINUTE);
    expect(left(h)).toEqual(["ahead", "plain"]);
    await h.clock.advance(2 * MINUTE);
    expect(left(h)).toEqual([]);
  });

  it("are forgotten when another client deletes them, and are deleted in batches", async () => {
    const h = await harness(startEventCleaner);
    await h.api.create(EVENTS, event("short"), "test");
    await h.api.delete(EVENTS, "default", "short");
    await h.settled();
    expect(h.clock.nextTimer()).toBeUndefined();
    await Promise.all(Array.from({ length: 250 }, (_, i) => h.api.create(EVENTS, event(`e${i}`), "test")));
    await h.clock.advance((h.clock.nextTimer() ?? 0) - h.clock.now());
    expect(left(h)).toHaveLength(150);
    await h.clock.advance(1000);
    expect(left(h)).toEqual([]);
    expect(h.clock.nextTimer()).toBeUndefined();
  });
});

describe("all together", () => {
  it("are idle and hold no timer on a fresh server", async () => {
    const h = await harness(startControllers, { rootCaPem: "PEM" });
    expect(h.controller.idle()).toBe(true);
    expect(h.clock.nextTimer()).toBeUndefined();
    expect(h.errors).toEqual([]);
    h.controller.stop();
  });
});

/** A request and a certificate made with openssl for these tests; nothing uses their key. */
const REQUEST =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RWRHVnpkREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQkp4dHBCYldTaHN5SVlpTUoxZVhrcmYrdXZNdFJmSGtiVjhvR1l6YUF4Y2VFcWxhN1BsbExOaGlySXVECnpqeTc3bmtjUCtJbHNTMjB5SWRINHlrRUhBbWdBREFLQmdncWhrak9QUVFEQWdOSUFEQkZBaUVBbzBhcy9UZjAKWDROYVBBdWE2Q0pmQ1FhR1hYVVEyVWliTGR0WmtuZnY2SnNDSUhnTTZtbDJkZHgzcFQxa25vVU56QkdEQTl1NgpNN002MnVIa01YRXRFQlV1Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
const CERTIFICATE =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJHakNCd1FJVUxmUldwMEN4ZXZ0MitkS3ozbDBKTE0yQkpEWXdDZ1lJS29aSXpqMEVBd0l3RHpFTk1Bc0cKQTFVRUF3d0VkR1Z6ZERBZ0Z3MHlOakV4TVRZd01EQTNORFZhR0E4eU1USTJNVEF5TXpBd01EYzBOVm93RHpFTgpNQXNHQTFVRUF3d0VkR1Z6ZERCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQkp4dHBCYldTaHN5CklZaU1KMWVYa3JmK3V2TXRSZkhrYlY4b0dZemFBeGNlRXFsYTdQbGxMTmhpckl1RHpqeTc3bmtjUCtJbHNTMjAKeUlkSDR5a0VIQWt3Q2dZSUtvWkl6ajBFQXdJRFNBQXdSUUloQU40UkhvTm4rbDNEdUFucEx0TkJlM2FPZWRTUwpyYkFZcmo0WW8wenVsNFh2QWlCYlhuMlJXdTRabDBQd0pkQ0VreURQZ1JrWWdqdG9MZHFrYVQ1cHo5eDliUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";
