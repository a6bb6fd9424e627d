import { coerce, parse } from "semver";

/** Version of kubeadm's configuration API. */
export type KubeadmApi = "v1beta3" | "v1beta4";

/** Returns the configuration API that kubeadm of a Kubernetes version reads; a pre-release counts as its release. */
export function kubeadmApi(version: string | undefined): { api: KubeadmApi } | { problem: string } {
  if (version === undefined)
    return { problem: "the Machine has no spec.version, which decides how kubeadm is configured" };
  const parsed = parse(version.replace(/^v/, "")) ?? coerce(version, { loose: true });
  if (parsed === null)
    return { problem: `spec.version ${JSON.stringify(version)} is not a version: write it like v1.34.0` };
  const { major, minor } = parsed;
  if (major < 1 || (major === 1 && minor < 22))
    return { problem: `Kubernetes ${version} is too old: kubeadm is supported from v1.22.0` };
  return { api: major > 1 || minor >= 31 ? "v1beta4" : "v1beta3" };
}
