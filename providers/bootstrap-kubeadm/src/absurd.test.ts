import { readFileSync } from "node:fs";
import { ApiError } from "@capstan/apimachinery";
import { KubeadmConfig, secretText } from "@capstan/capi";
import { arbitraryObjectOf } from "@capstan/capi/testing";
import { parseCloudConfig } from "@capstan/userdata";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import {
  CLUSTER,
  conditionText,
  createCluster,
  createMachine,
  namespace,
  read,
  secretWith,
  startPlane,
} from "./testing/world.ts";

const certificates = parse(readFileSync(new URL("../testdata/certificates.yaml", import.meta.url), "utf8")) as Record<
  string,
  Record<string, string>
>;

/** Whatever the schema lets through: texts of any characters, numbers without measure, sections that contradict each other. */
const [{ schema } = expect.fail("no version")] = KubeadmConfig.versions;
const specs = fc
  .sample(arbitraryObjectOf(KubeadmConfig.apiVersion, KubeadmConfig.kind, schema.json), { seed: 4, numRuns: 150 })
  .map((object, index) => ({ index, spec: (object as unknown as { spec?: object }).spec ?? {} }));

test.each([
  ["workers", { controlPlane: false, initialized: true }],
  ["joining control planes", { controlPlane: true, initialized: true }],
  ["first control planes", { controlPlane: true, initialized: false }],
])("no spec of %s makes the controller fail: it becomes data that can be read, or a condition", async (_, role) => {
  const plane = await startPlane();
  try {
    for (const [purpose, data] of Object.entries(certificates))
      await plane.user.create(secretWith(`${CLUSTER}-${purpose}`, data));
    await plane.addWorkload(namespace, CLUSTER);
    const { initialized, controlPlane } = role;
    await createCluster(plane, {
      infrastructureProvisioned: true,
      ...(initialized ? { controlPlaneInitialized: true } : {}),
    });
    let made = 0;
    for (const { index, spec } of specs) {
      const name = `m${index}`;
      try {
        await createMachine(plane, { name, spec, controlPlane });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status.code !== 422) throw error;
        continue;
      }
      const { config, secret } = await read(plane, name);
      expect(plane.failures, JSON.stringify(spec)).toEqual([]);
      expect(conditionText(config, "DataSecretAvailable"), JSON.stringify(spec)).toMatch(/^(True|False \w+ .)/);
      const value = secretText(secret, "value");
      if (value === undefined) continue;
      made++;
      if (config.spec?.format === "ignition") JSON.parse(value);
      else parseCloudConfig(value);
    }
    // Of first control planes only one gets data: the others wait for it.
    expect(made).toBeGreaterThan(initialized ? 10 : 0);
  } finally {
    await plane.close();
  }
});
