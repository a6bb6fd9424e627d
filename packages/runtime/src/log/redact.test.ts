import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLogger } from "./pino-logger.ts";
import { redact, redactText } from "./redact.ts";

test.each([
  ["Authorization: Bearer abc.def-123", "Authorization: Bearer [hidden]"],
  ["join with abcdef.0123456789abcdef now", "join with abcdef.[hidden] now"],
  ["-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- end", "[hidden] end"],
  ["https://user:pass@proxy:3128/x", "https://user:[hidden]@proxy:3128/x"],
  ["eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl", "[hidden]"],
  ["machine default/m1 is ready", "machine default/m1 is ready"],
])("text: %s", (text, expected) => {
  expect(redactText(text)).toBe(expected);
});

test("values: Secrets and secret fields are hidden, names of Secrets are not", () => {
  expect(
    redact({
      secret: { kind: "Secret", metadata: { name: "s" }, data: { key: "c2VjcmV0" }, stringData: { a: "b" } },
      map: { kind: "ConfigMap", data: { key: "plain" } },
      token: "t",
      adminPassword: "p",
      dataSecretName: "boot",
      nested: [{ clientKeyData: "k" }],
      none: undefined,
    }),
  ).toEqual({
    secret: { kind: "Secret", metadata: { name: "s" }, data: "[hidden]", stringData: "[hidden]" },
    map: { kind: "ConfigMap", data: { key: "plain" } },
    token: "[hidden]",
    adminPassword: "[hidden]",
    dataSecretName: "boot",
    nested: [{ clientKeyData: "[hidden]" }],
    none: undefined,
  });
});

test("values: handles errors, cycles and depth", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  expect(JSON.stringify(redact(cycle))).toContain("[…]");
  expect(redact(new Error("Bearer abcdefgh"))).toMatchObject({ name: "Error", message: "Bearer [hidden]" });
});

test("the logger writes JSON lines with fields, by level", async () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _, next) {
      lines.push(String(chunk));
      next();
    },
  });
  const log = (await createLogger({ level: "info", destination })).with({ controller: "machine" });
  log.debug("not shown");
  log.error("failed", { error: new Error("token: Bearer abcdefgh"), name: "m1" });
  expect(lines).toHaveLength(1);
  const line = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
  expect(line).toMatchObject({ level: 50, msg: "failed", controller: "machine", name: "m1" });
  expect(lines[0]).not.toContain("abcdefgh");
});
