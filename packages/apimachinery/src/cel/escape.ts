const RESERVED: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** A property's name as expressions write it; undefined when it cannot be written. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name) || /[^a-zA-Z0-9_.\-/]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => {
    if (part === "__") return "__underscores__";
    return part === "." ? "__dot__" : part === "-" ? "__dash__" : "__slash__";
  });
}
