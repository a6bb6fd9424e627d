/** groupPriorityMinimum of Kubernetes' own groups: it decides the order of groups in discovery. */
const PRIORITIES: Readonly<Record<string, number>> = {
  "apiregistration.k8s.io": 20_000,
  "": 18_000,
  apps: 17_800,
  "events.k8s.io": 17_750,
  "authentication.k8s.io": 17_700,
  "authorization.k8s.io": 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  "certificates.k8s.io": 17_300,
  "networking.k8s.io": 17_200,
  policy: 17_100,
  "rbac.authorization.k8s.io": 17_000,
  "storage.k8s.io": 16_800,
  "admissionregistration.k8s.io": 16_700,
  "apiextensions.k8s.io": 16_700,
  "scheduling.k8s.io": 16_600,
  "coordination.k8s.io": 16_500,
  "node.k8s.io": 16_300,
  "discovery.k8s.io": 16_200,
};

/** Rank of a group; groups of CRDs come after all built-in ones. */
export function groupPriority(group: string): number {
  return PRIORITIES[group] ?? 1000;
}

/** Sorts groups as discovery lists them: by rank, then by name. */
export function compareGroups(a: string, b: string): number {
  return groupPriority(b) - groupPriority(a) || (a < b ? -1 : a > b ? 1 : 0);
}
