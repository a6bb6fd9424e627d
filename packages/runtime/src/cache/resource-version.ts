/**
 * Compares two resource versions of one kind: negative when `a` is older. Undefined when one is not a plain number, as in some aggregated
 * API servers; nothing can be concluded then. Kubernetes guarantees numeric comparison since 1.35.
 */
export function compareResourceVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (!isNumber(a) || !isNumber(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

function isNumber(version: string | undefined): version is string {
  if (version === undefined || version === "") return false;
  for (let i = 0; i < version.length; i++) {
    const code = version.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** Returns whether `a` is certainly not newer than `b`. */
export function notNewer(a: string | undefined, b: string | undefined): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order <= 0;
}
