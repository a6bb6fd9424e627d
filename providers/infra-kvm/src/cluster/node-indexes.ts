/** Returns the number of each machine: those that exist keep theirs, others get the lowest that is free, in the given order. */
export function nodeIndexes(
  known: Readonly<Record<string, number>>,
  machines: readonly string[],
): Record<string, number> {
  const indexes: Record<string, number> = {};
  for (const name of machines) {
    const index = Object.hasOwn(known, name) ? known[name] : undefined;
    if (index !== undefined) indexes[name] = index;
  }
  const taken = new Set(Object.values(indexes));
  let next = 1;
  for (const name of machines) {
    if (Object.hasOwn(indexes, name)) continue;
    while (taken.has(next)) next++;
    taken.add(next);
    indexes[name] = next;
  }
  return Object.fromEntries(Object.entries(indexes).sort(([a], [b]) => (a < b ? -1 : 1)));
}
