/** Where our control planes differ from upstream's after the same story, and why. None concerns Machines, members or deletions. */
export const DIFFERENCES: readonly { readonly path: RegExp; readonly stories?: RegExp; readonly reason: string }[] = [
  {
    path: /^controlPlane\.conditions\.Progressing$/,
    reason: "An addition of ours: how many Machines are replaced, and what the current one is doing.",
  },
  {
    path: /^controlPlane\.v1beta1\.(MachinesReady|Ready)$/,
    stories: /^(do not replace 1 of 1|replace one without a Node|replace the first one .*|scale up waits .*)$/,
    reason:
      "Upstream takes the deprecated condition from those of its Machines; ours have none, so that it follows MachinesReady.",
  },
  {
    path: /^controlPlane\.conditions\.MachinesReady$/,
    stories: /^replace (one without a Node|the first one .*)$/,
    reason: "What a machine waits for is said by its infrastructure provider.",
  },
  {
    path: /^machines\.[^.]+\.conditions\.HealthCheckSucceeded$/,
    stories: /^replace the first one/,
    reason: "The recording ended before the health check had judged the new Machine.",
  },
  {
    path: /^workload\.kubeadmConfig\.etcd\.local\.dataDir$/,
    stories: /^do not roll for DNS$/,
    reason: "Ours brings kubeadm-config up to date at once, upstream with the next rollout.",
  },
  {
    path: /^configs\.[^.]+\.spec\.clusterConfiguration(\.controlPlaneEndpoint)?$/,
    reason: "Upstream's bootstrap provider writes the endpoint into the spec; ours only into the data.",
  },
  {
    path: /^(controlPlane|machines\.[^.]+)\.annotations\.capstan\.dev\/(control-plane-initialized|starts-control-plane)$/,
    reason:
      "Ours records the initialization durably: upstream forgets it with the status, and then removes the last Machine.",
  },
  {
    path: /^configs\.[^.]+\.annotations\.machine\.cluster\.x-k8s\.io\/certificates-expiry$/,
    reason: "The simulated kube-apiserver shows no certificate; that of a real one is read in npm run e2e -- kcp.",
  },
  {
    path: /^workload\.kubeadmConfig\.(?!kubernetesVersion|featureGates|apiServer|controllerManager|scheduler|etcd)/,
    reason: "The simulated kubeadm writes fewer defaults; the control plane leaves these fields alone.",
  },
];

/** What no recording decides. */
export const OPEN: readonly { readonly lines: RegExp; readonly stories: RegExp; readonly reason: string }[] = [
  {
    lines: /^leader /,
    stories: /^replace during a rollout$/,
    reason: "Which member leads depends on whether the health check has judged the newest Machine yet.",
  },
];

/** Flattens a state into paths and values; an empty object is the same as none. */
export function flatten(value: unknown, path: readonly string[] = []): Map<string, unknown> {
  const isTree = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isTree) return new Map([[path.join("."), value]]);
  return new Map(Object.entries(value).flatMap(([name, inner]) => [...flatten(inner, [...path, name])]));
}
