import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "./root.ts";

/** A dashboard over many clusters that nothing works on: what is measured is the dashboard alone. */
export interface QuietPlane {
  readonly link: string;
  readonly url: string;
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts one in a process of its own. */
export async function startQuietPlane(clusters: number): Promise<QuietPlane> {
  const program = join(ROOT, "tests/dist/browser/harness/quiet-main.js");
  const child = spawn(process.execPath, [program, String(clusters)], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const link = line.toString("utf8").trim();
  return {
    link,
    url: new URL(link).origin,
    pid: child.pid ?? 0,
    close: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}
