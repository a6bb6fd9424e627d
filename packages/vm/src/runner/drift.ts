/** Options of QEMU that differ between two command lines, such as `-m`; each once. */
export function driftOf(running: readonly string[], ordered: readonly string[]): string[] {
  const [before, after] = [byOption(running), byOption(ordered)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}

function byOption(args: readonly string[]): Map<string, string> {
  const options = new Map<string, string>();
  let name = "";
  // Values never begin with a dash, options always do.
  for (const arg of args)
    if (arg.startsWith("-")) {
      name = arg;
      options.set(name, `${options.get(name) ?? ""}\u0000`);
    } else options.set(name, `${options.get(name) ?? ""}${arg}`);
  return options;
}
