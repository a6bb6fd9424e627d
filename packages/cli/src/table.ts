const GUTTER = "   ";

/** kubectl's look: upper-case headers, three spaces between columns, nothing after the last. */
export function renderTable(headers: string[], rows: string[][]): string {
  return columns(headers.length === 0 ? rows : [headers, ...rows]).join("\n");
}

/** Rows aligned in columns, each at least as wide as `atLeast` says. */
export function columns(rows: string[][], atLeast: readonly number[] = []): string[] {
  const widths = columnWidths(rows, atLeast);
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GUTTER)
      .trimEnd(),
  );
}

/** How wide each column must be. */
export function columnWidths(rows: string[][], atLeast: readonly number[] = []): number[] {
  const widths = [...atLeast];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  return widths;
}
