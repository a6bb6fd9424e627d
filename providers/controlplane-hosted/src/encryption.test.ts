import { Secret, secretText } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { ENCRYPTION_FILE } from "./components/settings.ts";
import { encryptionConfiguration } from "./encryption.ts";
import { HostedPlane } from "./testing/hosted-plane.ts";

let hosted: HostedPlane;

beforeEach(async () => {
  hosted = await HostedPlane.start();
});

afterEach(async () => {
  await hosted.close();
});

interface Part {
  resources: string[];
  providers: Record<string, unknown>[];
}

const parts = (text: string): [string[], string[]][] =>
  (parse(text) as { resources: Part[] }).resources.map(({ resources, providers }) => [
    resources,
    providers.flatMap((provider) => Object.keys(provider)),
  ]);

test("encrypts the requested resources, and keeps earlier ones readable", () => {
  const key = { key: "a2V5", resources: ["secrets", "configmaps"] };
  expect(parts(encryptionConfiguration(key, { resources: ["secrets"] }))).toEqual([
    [["secrets"], ["secretbox", "identity"]],
    [["configmaps"], ["identity", "secretbox"]],
  ]);
  expect(parts(encryptionConfiguration(key, undefined))).toEqual([
    [
      ["secrets", "configmaps"],
      ["identity", "secretbox"],
    ],
  ]);
});

test("a tenant who writes the Secret cannot change the file around its values", () => {
  const text = encryptionConfiguration({ key: "a\n\u2028kms: {}", resources: ["secrets\n\x85- b"] }, undefined);
  expect(text).not.toMatch(/[\x85\u2028]/);
  expect(parts(text)).toEqual([[["secrets\n\x85- b"], ["identity", "secretbox"]]]);
});

test("creates one key, keeps it when encryption is disabled, and includes it in backups", async () => {
  await hosted.create({ apiServer: { encryption: {} } }, {}, { annotations: { "capstan.dev/backup": "now" } });
  await hosted.ready();
  const file = (): string => hosted.placement.plans.at(-1)?.userFiles.apiServer[ENCRYPTION_FILE] ?? "";
  expect(parts(file())).toEqual([[["secrets"], ["secretbox", "identity"]]]);
  const secret = await hosted.plane.user.get(Secret, { namespace: "default", name: "c1-encryption" });
  const key = secretText(secret, "key") ?? "";
  expect(Buffer.from(key, "base64")).toHaveLength(32);
  expect(file()).toContain(key);
  await hosted.plane.user.patch(await hosted.get(), { spec: { apiServer: { encryption: null } } });
  await hosted.eventually(async () => expect(parts(file())).toEqual([[["secrets"], ["identity", "secretbox"]]]));
  expect(file(), "the same key").toContain(key);
  expect(hosted.placement.plans.at(-1)?.encryption?.key).toBe(key);
  expect(JSON.stringify((await hosted.get()).status), "never in a condition").not.toContain(key);
});
