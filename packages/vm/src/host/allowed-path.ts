import { realpath } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";

/** A path that was named from outside, and leads where it must not. */
export class PathRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PathRefused";
  }
}

/**
 * Resolves a path that an object names, and refuses it unless it leads into one of the roots. Links count by where they lead. What is missing
 * below no root is refused in the same way, so that nothing can be learned about other folders.
 */
export async function allowedPath(path: string, roots: readonly string[]): Promise<string> {
  const refused = new PathRefused(
    `${path} is in none of the folders that machines may use${roots.length === 0 ? ": none is configured" : ` (${roots.join(", ")})`}`,
  );
  if (!isAbsolute(path) || path.split("/").includes("..")) throw refused;
  if (!roots.some((root) => isWithin(path, root))) throw refused;
  const real = await realpath(path);
  for (const root of roots) if (isWithin(real, await realpath(root).catch(() => root))) return real;
  throw refused;
}

function isWithin(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
