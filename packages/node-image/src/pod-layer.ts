import { chmod, copyFile, mkdir, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { containerdConfig } from "./containerd-config.ts";
import { IMAGES_FOLDER, KUBEADM_FILES, MASKED_IN_PODS, POD_FILES, REAL_KUBEADM } from "./contents.ts";
import { writeFiles } from "./tree.ts";

/** What a machine has on top of the common tree. */
export interface PodLayerOptions {
  /** Folder with kubelet, kubeadm and kubectl. */
  readonly programs: string;
  /** Image of the sandbox of every pod. */
  readonly sandboxImage: string;
  /** Archives of images to import before the node starts. */
  readonly archives: readonly string[];
}

/** Writes what machines that are pods have on top of the common tree. */
export async function makePodLayer(target: string, options: PodLayerOptions): Promise<void> {
  const program = async (name: string, path: string): Promise<void> => {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await copyFile(join(options.programs, name), join(target, path));
    await chmod(join(target, path), 0o755);
  };
  for (const name of ["kubelet", "kubectl"]) await program(name, `usr/local/bin/${name}`);
  await program("kubeadm", REAL_KUBEADM);
  await writeFiles(target, KUBEADM_FILES, 0o755);
  await writeFiles(target, { ...POD_FILES, "etc/containerd/config.toml": containerdConfig(options.sandboxImage) });
  for (const unit of MASKED_IN_PODS) await symlink("/dev/null", join(target, "etc/systemd/system", unit));
  await mkdir(join(target, IMAGES_FOLDER), { recursive: true });
  for (const archive of options.archives) await copyFile(archive, join(target, IMAGES_FOLDER, basename(archive)));
}
