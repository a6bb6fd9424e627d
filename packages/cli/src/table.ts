const GUTTER = "   ";

/** kubectl's look: upper-case headers, three spaces between columns, nothing after the last. */
export function renderTable(headers: string[], rows: string[][]): string {
  const all = [headers, ...rows];
  const widths = headers.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GUTTER)
        .trimEnd(),
    )
    .join("\n");
}
