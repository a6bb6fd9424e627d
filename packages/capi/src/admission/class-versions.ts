const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/;

/**
 * Whether a version can follow another in a class: by semantic versioning, and where only the builds differ, by these, number by
 * number. Builds that are texts have no order, so each may follow the other.
 */
export function isLater(version: string, before: string): boolean {
  const [left, right] = [VERSION.exec(version), VERSION.exec(before)];
  if (left === null || right === null) return false;
  for (const index of [1, 2, 3]) if (left[index] !== right[index]) return Number(left[index]) > Number(right[index]);
  const releases = compareLists(parts(left[4]), parts(right[4]), comparePreReleases);
  // A release is newer than its pre-releases.
  if ((left[4] === undefined) !== (right[4] === undefined)) return left[4] === undefined;
  return (releases || compareLists(parts(left[5]), parts(right[5]), compareBuilds)) > 0;
}

function parts(text: string | undefined): string[] {
  return text?.split(".") ?? [];
}

function compareLists(
  left: readonly string[],
  right: readonly string[],
  compare: (a: string, b: string) => number,
): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = compare(left[index] ?? "", right[index] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** Numbers come before texts. */
function comparePreReleases(a: string, b: string): number {
  const [first, second] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (first && second) return Number(a) - Number(b);
  if (first !== second) return first ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** As above, but any two strings may follow each other. */
function compareBuilds(a: string, b: string): number {
  const texts = !/^\d+$/.test(a) && !/^\d+$/.test(b);
  return texts && a !== b ? 1 : comparePreReleases(a, b);
}
