/** The finalizer of an infrastructure kind, e.g. `memorymachine.infrastructure.cluster.x-k8s.io`. */
export function finalizerOf(kind: { kind: string; group: string }): string {
  return `${kind.kind.toLowerCase()}.${kind.group}`;
}
