import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** What the same clusters cost upstream's managers, its in-memory provider, kube-apiserver and etcd. */
export interface Peer {
  algorithm: string;
  seconds: number;
  cpuPerCluster: number;
}

interface Run {
  algorithm: string;
  clusters: number;
  seconds: number;
  api: number;
  managers: number;
}

/** Runs this many clusters at once on upstream, for each algorithm of keys. */
export function upstream(clusters: number, algorithms: readonly string[]): Peer[] {
  const script = "tools/cluster-api/in-memory/fleet.mjs";
  const args = [script, "--clusters", String(clusters), "--algorithms", algorithms.join(",")];
  const { stdout, status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = stdout.split("\n").find((each) => each.startsWith("["));
  if (status !== 0 || line === undefined)
    throw new Error(`upstream did not run (it needs Go and \`npm run kubernetes\`, see tools/cluster-api): ${stdout}`);
  const runs = JSON.parse(line) as Run[];
  return runs.map(({ algorithm, seconds, api, managers }) => {
    console.log(
      `upstream, ${clusters} with ${algorithm}: ${seconds} s; CPU ${managers} s of managers, ${api} s of the API`,
    );
    return { algorithm, seconds, cpuPerCluster: (api + managers) / clusters };
  });
}
