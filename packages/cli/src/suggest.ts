/** Returns the known word closest to a mistyped one, if one is close enough. */
export function suggest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: { text: string; distance: number } | undefined;
  for (const text of known) {
    if (Math.abs(text.length - word.length) > limit) continue;
    const distance = editDistance(word, text);
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { text, distance };
  }
  return best?.text;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
