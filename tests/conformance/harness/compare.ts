/** Where two values differ, one line each: `body.message: ours "a", real "b"`. */
export function differences(ours: unknown, real: unknown, path = ""): string[] {
  if (Object.is(ours, real)) return [];
  if (isHolder(ours) && isHolder(real) && Array.isArray(ours) === Array.isArray(real)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(real)]);
    return [...keys].flatMap((key) => differences(ours[key], real[key], path === "" ? key : `${path}.${key}`));
  }
  if (typeof ours === "string" && typeof real === "string" && ours.length + real.length > 400) {
    let start = 0;
    while (ours[start] === real[start]) start++;
    const part = (text: string): string => text.slice(Math.max(0, start - 40), start + 260);
    return [`${path}: at ${start} ours …${show(part(ours))}, real …${show(part(real))}`];
  }
  return [`${path}: ours ${show(ours)}, real ${show(real)}`];
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 1500 ? `${text.slice(0, 1500)}…` : text;
}
