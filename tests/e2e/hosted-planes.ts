import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { statusOf } from "./ask.ts";
import { Capstan } from "./capstan/instance.ts";
import { eventually, timed } from "./harness/index.ts";

/** Hosted control planes as processes, without nodes: made, looked at and asked as a user does. */
export class HostedPlanes {
  readonly capstan: Capstan;

  private constructor(capstan: Capstan) {
    this.capstan = capstan;
  }

  static async start(): Promise<HostedPlanes> {
    // The object store of these tests is on this machine too.
    return new HostedPlanes(await Capstan.start("127.0.0.1", "127.0.0.1", ["--allow-address", "127.0.0.0/8"]));
  }

  close(): Promise<void> {
    return this.capstan.close();
  }

  /** Applies a Cluster and its HostedControlPlane of one name. */
  async create(name: string, spec: object = {}, clusterSpec: object = {}): Promise<void> {
    const objects = [
      {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Cluster",
        metadata: { name, namespace: "default" },
        spec: {
          controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
          ...clusterSpec,
        },
      },
      {
        apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
        kind: "HostedControlPlane",
        metadata: { name, namespace: "default" },
        spec: { version: "v1.37.1", placement: { type: "Process" }, ...spec },
      },
    ];
    const input = objects.map((object) => JSON.stringify(object)).join("\n---\n");
    await this.capstan.kubectlWithInput(input, "apply", "-f", "-");
  }

  patch(name: string, patch: object): Promise<string> {
    return this.capstan.kubectl("patch", "hcp", name, "--type=merge", "-p", JSON.stringify(patch));
  }

  /** `STATUS REASON MESSAGE` of a condition. */
  condition(name: string, type: string): Promise<string> {
    const path = `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason} {.message}{end}`;
    return this.#get(name, path);
  }

  /** Waits for a condition that reads so and is of the spec as it is now. */
  told(name: string, type: string, text: RegExp): Promise<unknown> {
    return timed(`${name}: ${type} ${text.source}`, () =>
      eventually(
        `${type} of ${name} like ${text.source}`,
        async () => {
          const path = `{.metadata.generation} {.status.conditions[?(@.type=="${type}")].observedGeneration}`;
          const [wanted, seen] = (await this.#get(name, path)).split(" ");
          if (wanted !== seen) throw new Error(`generation ${seen} of ${wanted} was looked at`);
          const found = await this.condition(name, type);
          if (!text.test(found)) throw new Error(found);
          return true;
        },
        { timeout: 120_000 },
      ),
    );
  }

  remove(name: string): Promise<string> {
    return this.capstan.kubectl("delete", "cluster", name, "--timeout=60s");
  }

  folder(name: string): string {
    return join(this.capstan.dataDir, "clusters/default", name);
  }

  pid(name: string, program: string): number {
    const record = readFileSync(join(this.folder(name), program, "process.json"), "utf8");
    return (JSON.parse(record) as { pid: number }).pid;
  }

  /** The admin kubeconfig as it is now. */
  async kubeconfig(name: string): Promise<string> {
    const data = await this.capstan.kubectl("get", "secret", `${name}-kubeconfig`, "-o", "jsonpath={.data.value}");
    return Buffer.from(data, "base64").toString("utf8");
  }

  /** kubectl against a hosted control plane, with its kubeconfig in a file. */
  kubectl(kubeconfigFile: string, ...args: string[]): Promise<string> {
    return mustRun(join(kubernetesBin(), "kubectl"), ["--kubeconfig", kubeconfigFile, ...args]);
  }

  /** etcdctl with the keys of a control plane, for the first member of the etcd whose folder it is; by default its own. */
  async etcdctl(name: string, args: string[], etcdFolder = this.folder(name)): Promise<string> {
    const file = (path: string): string => join(this.folder(name), "kube-apiserver/files", path);
    const ports = JSON.parse(readFileSync(join(etcdFolder, "ports.json"), "utf8")) as Record<string, number>;
    const access = {
      cacert: file("etcd/ca.crt"),
      cert: file("apiserver-etcd-client.crt"),
      key: file("apiserver-etcd-client.key"),
      endpoints: `https://127.0.0.1:${ports["etcdClient0"]}`,
      "command-timeout": "5s",
    };
    const flags = Object.entries(access).map(([flag, value]) => `--${flag}=${value}`);
    return await mustRun(join(kubernetesBin(), "etcdctl"), [...flags, ...args]);
  }

  async server(name: string): Promise<string> {
    const path = "jsonpath=https://{.spec.controlPlaneEndpoint.host}:{.spec.controlPlaneEndpoint.port}";
    return await this.capstan.kubectl("get", "hcp", name, "-o", path);
  }

  /** Every path that a control plane tells its administrator of, and the list of every resource. */
  async everyPath(kubeconfigFile: string): Promise<string[]> {
    const get = async (path: string): Promise<Record<string, unknown>> =>
      JSON.parse(await this.kubectl(kubeconfigFile, "get", "--raw", path)) as Record<string, unknown>;
    const paths = (await get("/"))["paths"] as string[];
    const groups = paths.filter((path) => /^\/(api|apis\/[^/]+)\/[^/]+$/.test(path));
    const lists = await Promise.all(
      groups.map(async (group) => {
        const resources = (await get(group))["resources"] as { name: string; verbs: string[] }[];
        return resources.filter(({ verbs }) => verbs.includes("list")).map(({ name }) => `${group}/${name}`);
      }),
    );
    return [...paths, ...lists.flat()];
  }

  /** Status of a GET as nobody. */
  async anonymous(name: string, path: string): Promise<number> {
    return Number(await statusOf(`${await this.server(name)}${path}`));
  }

  /** Status of a GET with a bearer token. */
  async withToken(name: string, path: string, token: string): Promise<number | string> {
    return await statusOf(`${await this.server(name)}${path}`, undefined, { authorization: `Bearer ${token}` });
  }

  #get(name: string, jsonpath: string): Promise<string> {
    return this.capstan.kubectl("get", "hcp", name, "-o", `jsonpath=${jsonpath}`);
  }
}
