/** Returns the texts of `Warning` headers with code 299, which API servers use for warnings. */
export function warningTexts(header: string | string[] | undefined): string[] {
  if (header === undefined) return [];
  const texts: string[] = [];
  for (const value of typeof header === "string" ? [header] : header) {
    for (const match of value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g))
      texts.push((match[1] ?? "").replace(/\\(.)/g, "$1"));
  }
  return texts;
}
