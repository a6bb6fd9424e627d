/** A node of a tree shown as a table: its name is indented, its cells are columns. */
export interface TreeNode {
  name: string;
  cells: string[];
  children: TreeNode[];
}

interface Row {
  label: string;
  cells: string[];
}

const GUTTER = "  ";

/** Renders a tree as kubectl-style columns with the name column drawn as a tree. */
export function renderTree(headers: string[], roots: TreeNode[]): string {
  const rows: Row[] = [{ label: headers[0] ?? "", cells: headers.slice(1) }];
  for (const root of roots) addRows(root, "", "", rows);
  const widths = rows.reduce<number[]>(
    (found, row) => [row.label, ...row.cells].map((text, i) => Math.max(found[i] ?? 0, text.length)),
    [],
  );
  return rows.map((row) => formatRow(row, widths)).join("\n");
}

function formatRow(row: Row, widths: number[]): string {
  return [row.label, ...row.cells]
    .map((text, i) => text.padEnd(widths[i] ?? 0))
    .join(GUTTER)
    .trimEnd();
}

function addRows(node: TreeNode, lead: string, childLead: string, rows: Row[]): void {
  // A long message continues on lines of its own, below its column, with the tree drawn through.
  const lines = node.cells.map((cell) => cell.split("\n"));
  const height = Math.max(1, ...lines.map((parts) => parts.length));
  for (let line = 0; line < height; line++) {
    const label = line === 0 ? lead + node.name : childLead + (node.children.length > 0 ? "│" : "");
    rows.push({ label, cells: lines.map((parts) => parts[line] ?? "") });
  }
  node.children.forEach((child, index) => {
    const last = index === node.children.length - 1;
    addRows(child, childLead + (last ? "└─" : "├─"), childLead + (last ? "  " : "│ "), rows);
  });
}
