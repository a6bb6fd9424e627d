/** Upstream's limits: beyond the first, every text is cut to the second. */
const MAX_TOTAL = 4 * 1024;
const MAX_EACH_WHEN_MANY = 256;

/** Adds a warning for the `Warning: 299` headers unless it is there already; too many are cut and then dropped, as upstream does. */
export function addWarning(warnings: string[], text: string): void {
  if (text === "" || warnings.includes(text)) return;
  let total = 0;
  for (const warning of warnings) total += warning.length;
  if (total >= MAX_TOTAL) return;
  warnings.push(text);
  if (total + text.length <= MAX_TOTAL) return;
  for (const [i, warning] of warnings.entries()) warnings[i] = [...warning].slice(0, MAX_EACH_WHEN_MANY).join("");
}
