/** The first version of CoreDNS whose Corefiles need no other change than the ones made here. */
const OLDEST = [1, 8, 3];

/**
 * Migrates a Corefile to a newer version of CoreDNS. Since 1.8.3 corefile-migration, which upstream uses, changes only one thing: the
 * option `endpoint` of the plugin `kubernetes` keeps its first address. The rest of the text, comments included, stays as it is.
 * Undefined if CoreDNS is older.
 */
export function migrateCorefile(corefile: string, from: string): string | undefined {
  if (compare(from) < 0) return undefined;
  let depth = 0;
  let plugin = "";
  return corefile
    .split("\n")
    .map((line) => {
      const words = wordsOf(line);
      const [first = ""] = words;
      const opens = words.at(-1) === "{";
      let result = line;
      if (depth === 1 && first !== "}" && first !== "") plugin = first;
      if (depth === 2 && plugin === "kubernetes" && first === "endpoint" && words.length > 2 && !opens)
        result = `${/^\s*/.exec(line)?.[0] ?? ""}endpoint ${words[1]}`;
      if (opens) depth++;
      if (first === "}") depth--;
      return result;
    })
    .join("\n");
}

/** Words of a line up to its comment; quotes are kept, since only their number of words counts. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/"(?:[^"\\]|\\.)*"|\S+/g)) {
    if (word.startsWith("#")) break;
    words.push(word);
  }
  return words;
}

function compare(version: string): number {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of OLDEST.entries()) {
    const difference = (parts[index] ?? 0) - wanted;
    if (difference !== 0) return difference;
  }
  return 0;
}
