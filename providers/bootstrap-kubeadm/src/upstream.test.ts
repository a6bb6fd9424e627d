import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { secretText } from "@capstan/capi";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { CLUSTER, createCluster, createMachine, namespace, read, secretWith, startPlane } from "./testing/world.ts";

/** Recorded from upstream's kubeadm bootstrap provider by tools/cluster-api/record-bootstrap.mjs. */
const testdata = fileURLToPath(new URL("../testdata", import.meta.url));
const certificates = load("certificates.yaml") as Record<string, Record<string, string>>;
/** Also behind an escaped character of a data URL. */
const TOKEN = /(?<=[^a-z0-9]|%[0-9A-F]{2})[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9])/g;

interface Case {
  /** Of the KubeadmConfig, where it is not the newest. */
  apiVersion?: string;
  version: string;
  pool?: boolean;
  controlPlane?: boolean;
  initialized?: boolean;
  cluster?: object;
  secrets?: Record<string, Record<string, string>>;
  /** Instead of those in certificates.yaml. */
  certificates?: Record<string, Record<string, string>>;
  /** The token that stands in for made ones. */
  token?: string;
  spec: object;
}

function load(file: string): unknown {
  return parse(readFileSync(`${testdata}/${file}`, "utf8"));
}

const names = readdirSync(testdata)
  .filter((file) => file.endsWith(".golden"))
  .map((file) => file.replace(/\.golden$/, ""));

test.each(names)("%s: the same bytes as upstream", async (name) => {
  const given = load(`${name}.case.yaml`) as Case;
  const { apiVersion, version, pool, controlPlane, initialized = true, cluster, secrets = {}, token, spec } = given;
  const plane = await startPlane();
  try {
    for (const [purpose, data] of Object.entries({ ...certificates, ...given.certificates }))
      await plane.user.create(secretWith(`${CLUSTER}-${purpose}`, data));
    for (const [secret, data] of Object.entries(secrets)) await plane.user.create(secretWith(secret, data, false));
    await plane.addWorkload(namespace, CLUSTER);
    await createCluster(
      plane,
      { infrastructureProvisioned: true, ...(initialized ? { controlPlaneInitialized: true } : {}) },
      cluster,
    );
    await createMachine(plane, {
      name,
      version,
      spec,
      pool: pool === true,
      controlPlane: controlPlane === true,
      apiVersion,
    });
    const { config, secret } = await read(plane, name);
    const value = secretText(secret, "value")?.replaceAll(TOKEN, token ?? "abcdef.0123456789abcdef");
    expect(value ?? config.status).toBe(readFileSync(`${testdata}/${name}.golden`, "utf8"));
  } finally {
    await plane.close();
  }
});
