/** A file of an image. */
export interface TreeFile {
  readonly type: "file";
  readonly name: string;
  readonly content: Uint8Array;
}

/** A folder of an image. */
export interface TreeDirectory {
  readonly type: "directory";
  readonly name: string;
  readonly parent: TreeDirectory | undefined;
  readonly children: (TreeDirectory | TreeFile)[];
}

/** The folders in path table order (by depth, then by name) with the root first, and all files. */
export interface IsoTree {
  readonly directories: readonly TreeDirectory[];
  readonly files: readonly TreeFile[];
}

/** Builds the tree of folders from file paths. */
export function isoTree(contents: ReadonlyMap<string, Uint8Array>): IsoTree {
  const root: TreeDirectory = { type: "directory", name: "", parent: undefined, children: [] };
  const files: TreeFile[] = [];
  for (const [path, content] of [...contents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const names = path.split("/").filter((name) => name !== "");
    const name = names.pop() ?? "";
    const file: TreeFile = { type: "file", name, content };
    files.push(file);
    names.reduce(folder, root).children.push(file);
  }
  const directories: TreeDirectory[] = [root];
  for (let level: TreeDirectory[] = [root]; level.length > 0; ) {
    level = level.flatMap(({ children }) => children.filter((child) => child.type === "directory"));
    directories.push(...level);
  }
  return { directories, files };
}

function folder(parent: TreeDirectory, name: string): TreeDirectory {
  const found = parent.children.find((child) => child.type === "directory" && child.name === name);
  if (found?.type === "directory") return found;
  const made: TreeDirectory = { type: "directory", name, parent, children: [] };
  parent.children.push(made);
  return made;
}
