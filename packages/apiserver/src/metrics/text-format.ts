/** Label names and values of one series. */
export type Labels = Readonly<Record<string, string>>;

/** One sample: suffix of the name (`_sum`, `_bucket`), rendered labels, value. */
export type Sample = readonly [suffix: string, labels: string, value: number];

/** A metric family in the Prometheus text format. */
export function familyText(
  name: string,
  type: "counter" | "gauge" | "histogram",
  help: string,
  samples: Iterable<Sample>,
): string {
  let out = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const [suffix, labels, value] of samples)
    out += labels === "" ? `${name}${suffix} ${value}\n` : `${name}${suffix}{${labels}} ${value}\n`;
  return out;
}

/** Labels as they stand between the braces. */
export function labelText(labels: Labels): string {
  return Object.keys(labels)
    .map((name) => `${name}="${escapeValue(labels[name] ?? "")}"`)
    .join(",");
}

function escapeValue(value: string): string {
  return value.replace(/[\\"\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`));
}
