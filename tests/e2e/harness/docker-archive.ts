import { createHash } from "node:crypto";
import { renameSync, rmSync, statSync } from "node:fs";
import { type TarEntry, writeTar } from "./tar.ts";

/** An image to be: its name, its files, what it runs. */
export interface ImageDefinition {
  /** Full reference, `NAME:TAG`. */
  readonly reference: string;
  readonly entries: readonly TarEntry[];
  readonly entrypoint?: readonly string[];
}

const epoch = "1970-01-01T00:00:00Z";

/** Writes a one-layer docker archive, the form that `ctr images import` and `docker load` read. Appears whole or not at all. */
export function writeDockerArchive(target: string, image: ImageDefinition): void {
  const layerFile = `${target}.layer.${process.pid}`;
  const temporary = `${target}.${process.pid}`;
  try {
    const digest = createHash("sha256");
    writeTar(layerFile, image.entries, (bytes) => digest.update(bytes));
    const layer = digest.digest("hex");
    const config = JSON.stringify({
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      os: "linux",
      created: epoch,
      config: {
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        Entrypoint: image.entrypoint ?? null,
        WorkingDir: "/",
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
      history: [{ created: epoch, created_by: "capstan e2e" }],
    });
    const configName = `${createHash("sha256").update(config).digest("hex")}.json`;
    const manifest = [{ Config: configName, RepoTags: [image.reference], Layers: [`${layer}/layer.tar`] }];
    writeTar(temporary, [
      { path: `${layer}/layer.tar`, file: layerFile, size: statSync(layerFile).size },
      { path: configName, content: config },
      { path: "manifest.json", content: JSON.stringify(manifest) },
    ]);
    renameSync(temporary, target);
  } finally {
    rmSync(layerFile, { force: true });
    rmSync(temporary, { force: true });
  }
}
