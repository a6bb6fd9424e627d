import { expect, test } from "vitest";
import { guard, securityHeaders } from "./guard.ts";

const options = { scheme: "http", names: ["fleet.example"] } as const;

test.each([
  ["127.0.0.1:6447", true],
  ["localhost:1", true],
  ["[::1]:6447", true],
  ["fleet.example", true],
  ["FLEET.example:6447", true],
  ["evil.example:6447", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example", false],
  ["", false],
  ["a b", false],
])("Host %j is served: %s", (host, served) => {
  expect(guard("GET", "/", { host }, options) === undefined).toBe(served);
});

const host = "127.0.0.1:6447";
const own = "http://127.0.0.1:6447";

test.each([
  ["a write of our page", "POST", "/k8s/api", { origin: own }, undefined],
  ["a write without Origin", "POST", "/k8s/api", {}, 403],
  ["a write of another site", "POST", "/auth/session", { origin: "http://evil.example" }, 403],
  ["a write of another port", "POST", "/k8s/api", { origin: "http://127.0.0.1:1" }, 403],
  ["a write with another scheme", "POST", "/k8s/api", { origin: "https://127.0.0.1:6447" }, 403],
  ["a read of our page", "GET", "/stream", { "sec-fetch-site": "same-origin" }, undefined],
  ["a read that another site makes", "GET", "/k8s/api", { "sec-fetch-site": "cross-site" }, 403],
  ["a stream another site opens", "GET", "/stream", { "sec-fetch-site": "cross-site" }, 403],
  ["a link from elsewhere to the page", "GET", "/clusters", { "sec-fetch-site": "cross-site" }, undefined],
  ["a write that claims to be same-site only", "DELETE", "/k8s/a", { origin: own, "sec-fetch-site": "same-site" }, 403],
  ["curl", "GET", "/auth/session", {}, undefined],
])("%s", (_, method, path, headers, status) => {
  expect(guard(method, path, { host, ...headers }, options)?.status).toBe(status);
});

test("allows no scripts or styles of other origins, and inline styles only with the nonce", () => {
  const policy = securityHeaders("abc")["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self' 'nonce-abc'");
  expect(policy).not.toContain("unsafe");
  expect(policy).toContain("frame-ancestors 'none'");
});
