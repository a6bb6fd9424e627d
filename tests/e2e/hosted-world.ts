import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRunning, type ProcessIdentity } from "@capstan/os";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { type Asked, askAgainAndAgain } from "./ask.ts";
import type { Management } from "./capstan/manager.ts";
import { applyUserData, eventually, type Lab, type Node } from "./harness/index.ts";

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A hosted cluster seen from outside: its processes, its API, its hosts. */
export class HostedWorld {
  readonly capstan: Management;
  readonly lab: Lab;
  readonly cluster: string;
  readonly #scratch = mkdtempSync(join(tmpdir(), "capstan-workload-"));

  constructor(capstan: Management, lab: Lab, cluster = "demo") {
    this.capstan = capstan;
    this.lab = lab;
    this.cluster = cluster;
  }

  /** Folder of the control plane's processes. */
  get folder(): string {
    return join(this.capstan.dataDir, "clusters/default", this.cluster);
  }

  /** File with the admin's kubeconfig, after connect(). */
  get kubeconfig(): string {
    return join(this.#scratch, "kubeconfig");
  }

  /** kubectl against the hosted cluster. */
  kubectl(...args: string[]): Promise<string> {
    const common = ["--kubeconfig", this.kubeconfig, "--cache-dir", join(this.#scratch, "cache")];
    return mustRun(join(kubernetesBin(), "kubectl"), [...common, ...args]);
  }

  /** A field of the HostedControlPlane. */
  hcp(jsonpath: string): Promise<string> {
    return this.capstan.kubectl("get", "hcp", this.cluster, "-o", `jsonpath=${jsonpath}`);
  }

  /** `STATUS REASON MESSAGE` of a condition of the HostedControlPlane. */
  condition(type: string): Promise<string> {
    return this.hcp(`{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason} {.message}{end}`);
  }

  patch(patch: object): Promise<string> {
    return this.capstan.kubectl("patch", "hcp", this.cluster, "--type=merge", "-p", JSON.stringify(patch));
  }

  available(timeout = 60_000): Promise<unknown> {
    return eventually("Available", async () => (await this.condition("Available")).startsWith("True"), { timeout });
  }

  /** Fetches the admin kubeconfig as a user does. */
  async connect(): Promise<void> {
    const secret = await this.capstan.kubectl(
      "get",
      "secret",
      `${this.cluster}-kubeconfig`,
      "-o",
      "jsonpath={.data.value}",
    );
    writeFileSync(this.kubeconfig, Buffer.from(secret, "base64"), { mode: 0o600 });
  }

  async readyNodes(): Promise<number> {
    const lines = (await this.kubectl("get", "nodes", "--no-headers")).split("\n");
    return lines.filter((line) => /\sReady\s/.test(line)).length;
  }

  /** Pids of the running components by name. */
  pids(): Record<string, number> {
    const pids: Record<string, number> = {};
    for (const name of readdirSync(this.folder)) {
      try {
        const record = JSON.parse(readFileSync(join(this.folder, name, "process.json"), "utf8")) as ProcessIdentity;
        if (isRunning(record)) pids[name] = record.pid;
      } catch {
        // Not a program.
      }
    }
    return pids;
  }

  /** Waits until all pods of a workload are ready; when they do not become so, the error shows pods and nodes. */
  async rolledOut(namespace: string, workload: string): Promise<void> {
    try {
      await this.kubectl("-n", namespace, "rollout", "status", workload, "--timeout=120s");
    } catch (error) {
      const pods = await this.kubectl("get", "pods", "-A", "-o", "wide");
      throw new Error(`${String(error)}\n${pods}\n${await this.kubectl("describe", "nodes")}`, { cause: error });
    }
  }

  /** What must not change while the control plane has trouble: pods with their restarts. */
  pods(): Promise<string> {
    const path = "{range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}{'\\n'}{end}";
    return this.kubectl("get", "pods", "-A", "--sort-by=.metadata.uid", "-o", `jsonpath=${path}`);
  }

  /** Makes Machine and KubeadmConfig for a host, waits for the user data and gives it back. */
  async userData(name: string): Promise<string> {
    const { capstan } = this;
    const manifest = readFileSync(file("hosted-host.yaml"), "utf8")
      .replaceAll("NAME", name)
      .replaceAll("demo", this.cluster)
      .replaceAll("VERSION", await this.hcp("{.spec.version}"));
    await capstan.kubectlWithInput(manifest, "apply", "-f", "-");
    const uid = await capstan.kubectl("get", "machine", name, "-o", "jsonpath={.metadata.uid}");
    const config = {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfig",
      metadata: {
        name,
        namespace: "default",
        labels: { "cluster.x-k8s.io/cluster-name": this.cluster },
        ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine", name, uid, controller: true }],
      },
      spec: {
        joinConfiguration: {
          nodeRegistration: { name, kubeletExtraArgs: [{ name: "provider-id", value: `hand://${name}` }] },
        },
      },
    };
    await capstan.kubectlWithInput(JSON.stringify(config), "apply", "-f", "-");
    const secret = await eventually(`user data of ${name}`, async () => {
      const found = await capstan.kubectl("get", "kubeadmconfig", name, "-o", "jsonpath={.status.dataSecretName}");
      return found === "" ? undefined : found;
    });
    const data = await capstan.kubectl("get", "secret", secret, "-o", "jsonpath={.data.value}");
    return Buffer.from(data, "base64").toString("utf8");
  }

  /** Carries user data to a host, and reports to the management cluster what an infrastructure provider would. */
  async join(node: Node): Promise<string> {
    const output = await applyUserData(node, await this.userData(node.name));
    await this.provisioned(node.name);
    return output;
  }

  /** Says that a machine is there: until then its Node keeps the taint of an uninitialized one. */
  async provisioned(name: string): Promise<void> {
    const status = JSON.stringify({ status: { initialization: { provisioned: true } } });
    const args = ["patch", "handmachine", name, "--type=merge", "-p", status, "--subresource=status"];
    await this.capstan.kubectl(...args);
  }

  /** Address of its API. */
  server(): Promise<string> {
    return this.hcp("https://{.spec.controlPlaneEndpoint.host}:{.spec.controlPlaneEndpoint.port}");
  }

  /** The CAs in the kubeconfig as it was last fetched. */
  ca(): string {
    const data = /certificate-authority-data: (\S+)/.exec(readFileSync(this.kubeconfig, "utf8"))?.[1] ?? "";
    return Buffer.from(data, "base64").toString("utf8");
  }

  /** Polls the API until stopped; returns what failed. */
  askApi(): () => Promise<Asked> {
    return askAgainAndAgain(this.server());
  }

  /** Polls the web Service from inside a host until stopped; returns how often it did not answer. */
  askWeb(node: Node): () => Promise<{ asked: number; failed: number }> {
    const name = `/tmp/ask-${createHash("sha256").update(this.lab.id).digest("hex").slice(0, 6)}`;
    const script = [
      `touch ${name}; asked=0; failed=0`,
      `while [ -e ${name} ]; do asked=$((asked+1)); curl -sfm 2 -o /dev/null "http://$1/" || failed=$((failed+1)); sleep 0.1; done`,
      "echo $asked $failed",
    ].join("\n");
    const running = this.kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}").then((address) =>
      node.must(["sh", "-c", script, "sh", address], { timeout: 900_000 }),
    );
    // A failed test tears the node down under it.
    running.catch(() => undefined);
    return async () => {
      await node.must(["rm", "-f", name]);
      const [asked = 0, failed = 0] = (await running).trim().split(" ").map(Number);
      return { asked, failed };
    };
  }

  close(): void {
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}
