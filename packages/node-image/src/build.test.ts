import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildNodeImage, type NodeImageOptions } from "./build.ts";
import { REAL_KUBEADM } from "./contents.ts";

let folder: string;
let options: NodeImageOptions;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-node-image-"));
  for (const name of ["tree/etc", "programs", "unpacked"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "tree/etc/machine-id"), "of the machine that built it");
  for (const name of ["kubelet", "kubectl"]) writeFileSync(join(folder, "programs", name), name);
  program(
    "kubeadm",
    '[ "$1" = version ] && echo v1.37.1 && exit; echo registry.k8s.io/etcd:3; echo registry.k8s.io/pause:3.10.1',
  );
  writeFileSync(join(folder, "images.tar"), "images");
  options = {
    version: "v1.37.1",
    programs: join(folder, "programs"),
    archives: [join(folder, "images.tar")],
    output: join(folder, "node.tar"),
    tree: { existing: join(folder, "tree") },
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, script: string): void {
  writeFileSync(join(folder, "programs", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "programs", name), 0o755);
}

/** A machine's file tree: the layers of the image on top of each other. */
function unpack(): string {
  const inside = (...args: string[]) => execFileSync("tar", args, { cwd: folder, encoding: "utf8" });
  inside("-xf", "node.tar");
  const blob = (digest: string): string => join(folder, "blobs", digest.replace(":", "/"));
  const read = (path: string) => JSON.parse(execFileSync("cat", [path], { encoding: "utf8" }));
  const manifest = read(blob(read(join(folder, "index.json")).manifests[0].digest));
  for (const { digest } of manifest.layers) inside("-C", "unpacked", "-xf", blob(digest));
  return execFileSync("find", [".", "-printf", "%P %M %l\n"], { cwd: join(folder, "unpacked"), encoding: "utf8" });
}

describe.skipIf(process.getuid?.() !== 0)("a node image", () => {
  test("has programs, masked units, archives of images and the sandbox image of kubeadm", async () => {
    expect(await buildNodeImage(options)).toBe("capstan.dev/node:v1.37.1");
    const files = unpack();
    expect(files, "the root can be entered by everybody").toMatch(/^ drwxr-xr-x/m);
    for (const path of ["usr/local/bin/kubelet", "usr/local/bin/kubectl", "usr/local/bin/kubeadm", REAL_KUBEADM])
      expect(files).toContain(`${path} -rwxr-xr-x`);
    expect(files).toContain("etc/systemd/system/iscsid.service lrwxrwxrwx /dev/null");
    expect(files).toContain("usr/share/capstan/images/images.tar");
    expect(files).not.toContain("machine-id");
    const config = execFileSync("cat", [join(folder, "unpacked/etc/containerd/config.toml")], { encoding: "utf8" });
    expect(config).toContain("pause:3.10.1");
  });

  test("takes kubeadm from the current folder if that is given, not from PATH", async () => {
    const before = process.cwd();
    process.chdir(options.programs);
    try {
      expect(await buildNodeImage({ ...options, programs: "." })).toBe("capstan.dev/node:v1.37.1");
    } finally {
      process.chdir(before);
    }
  });

  test("is not built of archives that would take each other's place, or that no node would import", async () => {
    for (const name of ["a/images.tar", "images.tgz"]) {
      mkdirSync(join(folder, "a"), { recursive: true });
      writeFileSync(join(folder, name), "images");
      const archives = [...options.archives, join(folder, name)];
      await expect(buildNodeImage({ ...options, archives })).rejects.toThrow(/images\.tar$|images\.tgz would not/);
    }
  });

  test.each([
    [{ version: "v1.36.0" }, /^kubeadm in .* is v1\.37\.1, not v1\.36\.0$/, /build the image of v1\.37\.1/],
    [{ archives: ["/nowhere.tar"] }, /^\/nowhere\.tar does not exist$/, /ctr images export/],
    [{ programs: "/nowhere" }, /^\/nowhere does not contain kubelet$/, /kubelet, kubeadm and kubectl/],
  ])("is not built with %j: the error has a cure", async (wrong, message, cure) => {
    const failed = buildNodeImage({ ...options, ...wrong });
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toMatchObject({ cure: expect.stringMatching(cure) });
  });
});
