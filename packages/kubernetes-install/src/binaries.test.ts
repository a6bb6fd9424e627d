import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installedVersions } from "./binaries.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-versions-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function install(version: string, ...programs: string[]): Promise<void> {
  await mkdir(join(folder, version, "bin"), { recursive: true });
  for (const name of programs) await writeFile(join(folder, version, "bin", name), "", { mode: 0o755 });
}

test("reports a version as installed when all its binaries exist, not while it is downloaded or built", async () => {
  await install("v1.34.4", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler");
  await install("v1.33.10", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler");
  await install("v1.35.4", "etcd", "kube-apiserver");
  await mkdir(join(folder, "v1.36.0/download"), { recursive: true });
  expect(await installedVersions([folder, join(folder, "nowhere")])).toEqual(["v1.33.10", "v1.34.4"]);
});
