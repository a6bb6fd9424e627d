import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Where the built page is: beside a bundled program, or in the package next to this one. Undefined when it was not built. */
export function dashboardPageDir(): string | undefined {
  const places = ["./dashboard/", "../../dashboard/dist/"].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return places.find((dir) => existsSync(`${dir}index.html`));
}
