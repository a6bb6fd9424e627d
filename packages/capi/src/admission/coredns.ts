import type { AdmissionProblem } from "../schema/kind.ts";
import { forbidden } from "./problems.ts";

/**
 * Versions between which upstream's migration of the Corefile (coredns/corefile-migration v1.0.35) has a path, in order: it goes
 * from each to any later one. tools/cluster-api/record-admission.mjs asks the rule about every one of them.
 */
const COREDNS_VERSIONS = `
1.1.3 1.1.4 1.2.0 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.2.6 1.3.0 1.3.1 1.4.0
1.5.0 1.5.1 1.5.2 1.6.0 1.6.1 1.6.2 1.6.3 1.6.4 1.6.5 1.6.6 1.6.7 1.6.9
1.7.0 1.7.1 1.8.0 1.8.3 1.8.4 1.8.5 1.8.6 1.8.7 1.9.0 1.9.1 1.9.2 1.9.3
1.9.4 1.10.0 1.10.1 1.11.0 1.11.1 1.11.3 1.11.4 1.12.0 1.12.1 1.12.2 1.12.3 1.12.4
1.13.0 1.13.1 1.13.2 1.14.0 1.14.1 1.14.2 1.14.3 1.14.4 1.14.6 1.14.7`
  .trim()
  .split(/\s/);

/** Set on a KubeadmControlPlane whose CoreDNS the user manages. */
export const SKIP_COREDNS_ANNOTATION = "controlplane.cluster.x-k8s.io/skip-coredns";

/** The version that the tag of a CoreDNS image begins with, as three numbers. */
export function coreDnsVersion(tag: string): string | undefined {
  const match = /^v?(\d+)(?:\.(\d+)(?:\.(\d+)(?:[-_][\w.-]+)?)?)?$/.exec(tag);
  return match === null ? undefined : [match[1], match[2], match[3]].map((part) => Number(part ?? 0)).join(".");
}

interface Change {
  from: string | undefined;
  to: string | undefined;
  annotations: Record<string, string> | undefined;
}

/** The configuration of CoreDNS is migrated with its image, so its tag may change only where there is a migration path. */
export function coreDnsMigrationProblems({ from, to, annotations }: Change, field: string): AdmissionProblem[] {
  const before = from === undefined ? undefined : coreDnsVersion(from);
  const after = to === undefined ? undefined : coreDnsVersion(to);
  if (before === undefined || after === undefined || before === after) return [];
  if (annotations?.[SKIP_COREDNS_ANNOTATION] !== undefined) return [];
  const start = COREDNS_VERSIONS.indexOf(before);
  if (start >= 0 && COREDNS_VERSIONS.indexOf(after) > start) return [];
  const cause =
    start < 0 ? `start version '${before}' not supported` : `there is no migration path from '${before}' to '${after}'`;
  const cure = `set the annotation ${SKIP_COREDNS_ANNOTATION} to manage CoreDNS and its configuration yourself`;
  return [forbidden(field, `cannot migrate CoreDNS up to '${to}' from '${from}': ${cause}; ${cure}`)];
}
