/** The order of keys in YAML that Go writes: letters behind the rest, numbers by their value, as people sort. */
export function compareKeys(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x = "", y = ""] = [left[i], right[i]];
    if (x === y) continue;
    const [xLetter, yLetter] = [isLetter(x), isLetter(y)];
    if (xLetter && yLetter) return x < y ? -1 : 1;
    if (xLetter || yLetter) return yLetter ? -1 : 1;
    const afterDigit = (x === "0" || y === "0") && followsNumber(left, i);
    const [m, n] = [numberAt(left, i, afterDigit), numberAt(right, i, afterDigit)];
    if (m.value !== n.value) return m.value < n.value ? -1 : 1;
    if (m.end !== n.end) return m.end < n.end ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return left.length - right.length;
}

const isLetter = (character: string): boolean => /^\p{L}$/u.test(character);
const isDigit = (character: string | undefined): boolean => character !== undefined && /^\p{Nd}$/u.test(character);

/** Whether a digit other than zero is in the number that continues here. */
function followsNumber(characters: readonly string[], index: number): boolean {
  for (let j = index - 1; isDigit(characters[j]); j--) if (characters[j] !== "0") return true;
  return false;
}

function numberAt(characters: readonly string[], index: number, goesOn: boolean): { value: bigint; end: number } {
  let value = goesOn ? 1n : 0n;
  let end = index;
  for (; isDigit(characters[end]); end++) value = value * 10n + BigInt(characters[end] ?? 0);
  return { value, end };
}
