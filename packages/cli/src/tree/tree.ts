/** A node of a tree that is printed as a table: its name is indented, its cells are columns. */
export interface TreeNode {
  name: string;
  cells: string[];
  /** Lines that belong to the node itself, drawn before its children and further in. */
  details?: TreeNode[];
  children: TreeNode[];
}

interface Row {
  label: string;
  cells: string[];
}

/** Adds colours to a cell after the layout, so that they do not affect column widths. */
export type PaintCell = (text: string, header: string) => string;

const GUTTER = "  ";
const MESSAGE_WIDTH = 100;

/** Renders a tree as kubectl-style columns with the name column drawn as a tree. */
export function renderTree(headers: string[], roots: TreeNode[], paint: PaintCell = (text) => text): string {
  const rows: Row[] = [{ label: headers[0] ?? "", cells: headers.slice(1) }];
  for (const root of roots) addRows(root, "", "", rows);
  const widths: number[] = [];
  for (const { label, cells } of rows)
    [label, ...cells].forEach((text, column) => {
      widths[column] = Math.max(widths[column] ?? 0, text.length);
    });
  return rows.map((row, at) => formatRow(row, widths, headers, at === 0 ? (text) => text : paint)).join("\n");
}

function formatRow({ label, cells }: Row, widths: number[], headers: string[], paint: PaintCell): string {
  const texts = [label, ...cells];
  const last = texts.findLastIndex((text) => text !== "");
  return texts
    .slice(0, last + 1)
    .map((text, column) => {
      const padding = column === last ? "" : " ".repeat((widths[column] ?? 0) - text.length);
      return paint(text, headers[column] ?? "") + padding;
    })
    .join(GUTTER);
}

function addRows(node: TreeNode, lead: string, childLead: string, rows: Row[]): void {
  const details = node.details ?? [];
  // A long message continues on lines of its own, below its column, with the tree's lines continued.
  const lines = node.cells.map((cell) => cell.split("\n").flatMap((line) => wrap(line, MESSAGE_WIDTH)));
  const height = Math.max(1, ...lines.map((parts) => parts.length));
  const below = node.children.length > 0 ? "│" : " ";
  const more = node.children.length + details.length > 0 ? (details.length > 0 ? `${below}   │` : below) : "";
  for (let line = 0; line < height; line++) {
    const label = line === 0 ? lead + node.name : (childLead + more).trimEnd();
    rows.push({ label, cells: lines.map((parts) => parts[line] ?? "") });
  }
  details.forEach((detail, index) => {
    const last = index === details.length - 1;
    const inner = `${childLead}${below}   `;
    addRows(detail, inner + (last ? "└─" : "├─"), inner + (last ? "" : "│"), rows);
  });
  node.children.forEach((child, index) => {
    const last = index === node.children.length - 1;
    addRows(child, childLead + (last ? "└─" : "├─"), childLead + (last ? "  " : "│ "), rows);
  });
}

/** Breaks a long line between words and keeps its indentation. */
function wrap(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const indent = /^[\s*]*/.exec(line)?.[0].replace(/\S/g, " ") ?? "";
  const out: string[] = [];
  let current = "";
  for (const word of line.split(" ")) {
    if (current.trim() !== "" && current.length + 1 + word.length > width) {
      out.push(current);
      current = indent + word;
    } else current = current === "" ? word : `${current} ${word}`;
  }
  return [...out, current];
}
