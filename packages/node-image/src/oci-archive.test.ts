import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ImageDefinition, writeOciArchive } from "./oci-archive.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "capstan-oci-"));
  for (const name of ["base", "top", "unpacked"]) mkdirSync(join(folder, name));
  mkdirSync(join(folder, "base/var/cache"), { recursive: true });
  writeFileSync(join(folder, "base/var/cache/left-out"), "x");
  writeFileSync(join(folder, "base/a"), "a");
  chmodSync(join(folder, "base/a"), 0o4755);
  symlinkSync("/dev/null", join(folder, "top/masked"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const image = (): ImageDefinition => ({
  reference: "capstan.dev/node:v1.37.1",
  architecture: "amd64",
  layers: [{ folder: join(folder, "base"), exclude: ["./var/cache/*"] }, { folder: join(folder, "top") }],
  config: { StopSignal: "SIGRTMIN+3" },
});

test("every blob has its digest as name, and the configuration lists the layers in order", async () => {
  const archive = join(folder, "image.tar");
  await writeOciArchive(archive, image());
  execFileSync("tar", ["-C", join(folder, "unpacked"), "-xf", archive]);
  const blobs = join(folder, "unpacked/blobs/sha256");
  for (const name of readdirSync(blobs))
    expect(
      createHash("sha256")
        .update(readFileSync(join(blobs, name)))
        .digest("hex"),
    ).toBe(name);
  const json = (digest: string) => JSON.parse(readFileSync(join(blobs, digest.replace("sha256:", "")), "utf8"));
  const index = JSON.parse(readFileSync(join(folder, "unpacked/index.json"), "utf8"));
  expect(index.manifests[0].annotations["io.containerd.image.name"]).toBe("capstan.dev/node:v1.37.1");
  expect(index.manifests[0].annotations["org.opencontainers.image.ref.name"]).toBe("v1.37.1");
  const manifest = json(index.manifests[0].digest);
  const config = json(manifest.config.digest);
  const layers: string[] = manifest.layers.map(({ digest }: { digest: string }) => digest);
  expect(config).toMatchObject({ os: "linux", config: { StopSignal: "SIGRTMIN+3" }, rootfs: { diff_ids: layers } });
  const entries = layers.map((digest) =>
    execFileSync("tar", ["-tvf", join(blobs, digest.replace("sha256:", ""))], { encoding: "utf8" }),
  );
  expect(entries[0]).toMatch(/^-rwsr-xr-x .* \.\/a$/m);
  expect(entries[0]).not.toContain("left-out");
  expect(entries[1]).toMatch(/\.\/masked -> \/dev\/null$/m);
});

test("equal content gives equal bytes, whatever the times of the files", async () => {
  const [one, two] = [join(folder, "one.tar"), join(folder, "two.tar")];
  await writeOciArchive(one, image());
  utimesSync(join(folder, "base/a"), 1, 1);
  await writeOciArchive(two, image());
  expect(readFileSync(two).equals(readFileSync(one))).toBe(true);
});

test("a layer that cannot be read leaves no archive", async () => {
  const archive = join(folder, "image.tar");
  const broken = { ...image(), layers: [{ folder: join(folder, "missing") }] };
  await expect(writeOciArchive(archive, broken)).rejects.toThrow(/tar of .*missing exited with code 2/);
  expect(readdirSync(folder).toSorted()).toEqual(["base", "top", "unpacked"]);
});
