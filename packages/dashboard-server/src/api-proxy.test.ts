import { expect, test } from "vitest";
import { withoutSecrets } from "./api-proxy.ts";

const secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: "s",
    annotations: { keep: "1", "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"k":"aHVzaA=="}}' },
    managedFields: [{ manager: "m" }],
  },
  data: { k: "aHVzaA==" },
  stringData: { k: "hush" },
};

test("replaces the values of a Secret by their lengths, alone and in a list", () => {
  for (const shown of [
    withoutSecrets(secret),
    (withoutSecrets({ apiVersion: "v1", kind: "SecretList", items: [secret] }) as { items: unknown[] }).items[0],
  ]) {
    expect(JSON.stringify(shown)).not.toMatch(/aHVzaA|hush/);
    expect(shown).toMatchObject({
      metadata: { name: "s", annotations: { keep: "1" } },
      data: { k: "<4 bytes hidden>" },
    });
  }
});

test("forwards other bodies unchanged", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, data: { k: "v" } };
  expect(withoutSecrets(map)).toBe(map);
  expect(withoutSecrets("text")).toBe("text");
});
