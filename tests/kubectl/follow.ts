import { spawn } from "node:child_process";
import { runCommand } from "../real-kubernetes/index.ts";

/** Runs `kubectl get -w` while an object is made, changed and deleted; the lines it printed, without ages. */
export async function followChanges(file: string, kubeconfig: string, cache: string): Promise<string[]> {
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  const args = [
    "get",
    "configmaps",
    "-n",
    "default",
    "-w",
    "--field-selector=metadata.name=followed",
    "--output-watch-events",
    `--cache-dir=${cache}`,
  ];
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const lines: string[] = [];
  let wake = (): void => {};
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake();
  });
  const until = async (count: number): Promise<void> => {
    const deadline = Date.now() + 20_000;
    while (lines.length < count && Date.now() < deadline)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 250);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
  };
  const kubectl = (...words: string[]): Promise<unknown> =>
    runCommand(file, [...words, "-n", "default", `--cache-dir=${cache}`], { env: { KUBECONFIG: kubeconfig } });
  try {
    // The header comes with the first object, which tells that the watch is on.
    await kubectl("create", "configmap", "followed");
    await until(2);
    await kubectl("patch", "configmap", "followed", "-p", '{"data":{"a":"1"}}');
    await until(3);
    await kubectl("delete", "configmap", "followed");
    await until(4);
  } finally {
    child.kill("SIGTERM");
  }
  return lines.map((line) => line.replace(/ {2,}\d+\w*\s*$/, "").replace(/ {2,}/g, "  "));
}
