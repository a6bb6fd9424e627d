import { RESTORE_ANNOTATION, secretText } from "@capstan/capi";

import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import type { Plane } from "../../core/src/testing/plane.ts";
import { conditionText, createCluster, createMachine, read, secretWith, startPlane } from "./testing/world.ts";

let plane: Plane;
beforeEach(async () => {
  plane = await startPlane();
});
afterEach(() => plane.close());

test("a Machine that recovers a control plane restores etcd before kubeadm init, and replaces its Node after it", async () => {
  await createCluster(plane, { infrastructureProvisioned: true, controlPlaneInitialized: true });
  await createMachine(plane, {
    name: "cp-9",
    controlPlane: true,
    annotations: { [RESTORE_ANNOTATION]: "r1-restore-etcd" },
    spec: {
      clusterConfiguration: { encryptionAlgorithm: "ECDSA-P256" },
      preKubeadmCommands: ["echo before"],
      postKubeadmCommands: ["echo after"],
    },
  });
  const data = async () => (await read(plane, "cp-9")).secret;
  expect(await data()).toBeUndefined();
  expect(conditionText((await read(plane, "cp-9")).config, "DataSecretAvailable")).toContain(
    "Secret r1-restore-etcd with the scripts that restore etcd does not exist",
  );
  await plane.user.create(secretWith("r1-restore-etcd", { script: "restore", after: "replace" }));
  await plane.settle(60_000);
  for (let turn = 0; turn < 300 && (await data()) === undefined; turn++) await plane.settle(100);
  const { runcmd = [], write_files: files = [] } = parse(secretText(await data(), "value") ?? "") as {
    runcmd?: string[];
    write_files?: { path: string; content: string }[];
  };
  expect(runcmd.map((command) => command.replace(/^kubeadm init.*/, "kubeadm init"))).toEqual([
    "echo before",
    "/run/capstan/restore-etcd.sh",
    "kubeadm init",
    "/run/capstan/after-restore.sh",
    "echo after",
  ]);
  const content = (path: string) => files.find((file) => file.path === path)?.content.trim();
  expect(content("/run/capstan/restore-etcd.sh")).toBe("restore");
  expect(content("/run/capstan/after-restore.sh")).toBe("replace");
});
