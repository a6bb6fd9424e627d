const GUTTER = "   ";

/** Renders a table in kubectl's style: upper-case headers, three spaces between columns, no trailing spaces. */
export function renderTable(headers: string[], rows: string[][]): string {
  return columns(headers.length === 0 ? rows : [headers, ...rows]).join("\n");
}

/** Aligns rows in columns, each at least as wide as `atLeast` says. */
export function columns(rows: string[][], atLeast: readonly number[] = []): string[] {
  const widths = columnWidths(rows, atLeast);
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GUTTER)
      .trimEnd(),
  );
}

/** Returns the width that each column needs. */
export function columnWidths(rows: string[][], atLeast: readonly number[] = []): number[] {
  const widths = [...atLeast];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  return widths;
}
