import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the folder of the built dashboard, next to a bundled program or in its package; undefined when it has not been built. */
export function dashboardPageDir(): string | undefined {
  const places = ["./dashboard/", "../../dashboard/dist/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return places.find((dir) => existsSync(`${dir}index.html`));
}
