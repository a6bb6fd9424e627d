/** A line of a diff. */
export interface DiffLine {
  readonly type: "same" | "added" | "removed";
  readonly text: string;
}

/** Texts with more differing lines than this are compared as a whole: the table would be too large. */
const MAX_CELLS = 4_000_000;

/** Computes a minimal diff of two texts by lines. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const head = a.slice(0, start).map((text): DiffLine => ({ type: "same", text }));
  const tail = end === 0 ? [] : a.slice(-end).map((text): DiffLine => ({ type: "same", text }));
  return [...head, ...middleDiff(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...tail];
}

function middleDiff(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ type: "removed", text });
  const added = (text: string): DiffLine => ({ type: "added", text });
  if ((a.length + 1) * (b.length + 1) > MAX_CELLS) return [...a.map(removed), ...b.map(added)];
  // common[i][j]: the number of lines that the remainders from i and j have in common.
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      out.push({ type: "same", text: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      out.push(removed(left));
      i++;
    } else if (right !== undefined) {
      out.push(added(right));
      j++;
    }
  }
  return out;
}

/** Reduces a diff to the changed lines and some lines around them; `undefined` marks omitted lines. */
export function withContext(lines: readonly DiffLine[], around = 3): (DiffLine | undefined)[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some((line) => line.type !== "same"),
  );
  const out: (DiffLine | undefined)[] = [];
  lines.forEach((line, index) => {
    if (near[index] === true) out.push(line);
    else if (out.length === 0 || out.at(-1) !== undefined) out.push(undefined);
  });
  return out;
}
