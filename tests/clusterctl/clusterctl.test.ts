import { execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYamlDocuments, systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import { GENERATED_FOLDERS, generatedFiles, type Standalone, startStandalone } from "@capstan/manager";
import { Client, httpTransport, loadKubeconfig, resourcePath, silentLogger } from "@capstan/runtime";
import { runProgram } from "capstan";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_TEMPLATES, TEMPLATES, VALUES } from "./templates.ts";

const build = fileURLToPath(new URL("../../tools/cluster-api/build.mjs", import.meta.url));
const program = join(execFileSync(process.execPath, [build, "--print"], { encoding: "utf8" }).trim(), "clusterctl");

let dir: string;
let standalone: Standalone;

interface Result {
  code: number | null;
  out: string;
  err: string;
}

/** The real one; our server answers it from this process. */
function clusterctl(args: string[], input = ""): Promise<Result> {
  const env = { ...process.env, ...VALUES, HOME: dir, XDG_CONFIG_HOME: dir, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
  const child = spawn(program, args, { env, stdio: "pipe" });
  const result: Result = { code: null, out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    result.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    result.err += chunk.toString();
  });
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ ...result, code }));
  });
}

/** Ours, with the same environment. */
async function capstan(args: string[], input = ""): Promise<Result> {
  let out = "";
  let err = "";
  const code = await runProgram(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    env: { ...VALUES, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir, CAPSTAN_CACHE: dir },
    interactive: false,
    stdin: () => Promise.resolve(input),
  });
  return { code, out, err };
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-clusterctl-"));
  standalone = await startStandalone({
    dataDir: join(dir, "capstan"),
    listen: { host: "127.0.0.1", port: 0 },
    version: "test",
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  const line = "create cluster c1 --kubernetes-version v1.37.1 --workers provider=memory,replicas=2 --timeout 60s";
  const { code, err } = await capstan(line.split(" "));
  if (code !== 0) throw new Error(err);
});

afterAll(async () => {
  await standalone.close(true);
  await rm(dir, { recursive: true, force: true });
});

/** Name, replicas, availability and status of each line; ages and widths are each program's own. */
function rows(text: string): string[] {
  // Ours says the cluster's state first.
  const lines = text.trimEnd().split("\n");
  return lines.slice(lines.findIndex((line) => line.startsWith("NAME")) + 1).map((line) =>
    line
      .replaceAll(/\s+\d+[smh]\d*[sm]?\b/g, " AGE")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

describe("describe cluster", () => {
  test.each([[[]], [["--show-machinesets", "--grouping=false"]]])(
    "%j shows the same objects as ours",
    async (flags) => {
      const theirs = await clusterctl(["describe", "cluster", "c1", "--kubeconfig", standalone.kubeconfig, ...flags]);
      expect(theirs).toMatchObject({ code: 0, err: "" });
      const ours = await capstan(["describe", "cluster", "c1", ...flags]);
      expect(ours).toMatchObject({ code: 0 });
      expect(objectsOf(rows(ours.out))).toEqual(objectsOf(rows(theirs.out)));
    },
  );

  test("a cluster that is not there", async () => {
    const { code, err } = await clusterctl(["describe", "cluster", "nope", "--kubeconfig", standalone.kubeconfig]);
    expect(code).toBe(1);
    expect(err).toContain("not found");
  });
});

test("get kubeconfig gives what ours gives", async () => {
  const theirs = await clusterctl(["get", "kubeconfig", "c1", "--kubeconfig", standalone.kubeconfig]);
  expect(theirs).toMatchObject({ code: 0, err: "" });
  expect(parseYamlDocuments(theirs.out)).toEqual(parseYamlDocuments((await capstan(["kubeconfig", "c1"])).out));
});

describe("generate", () => {
  test("yaml: every function of the template language gives the same", async () => {
    const data = TEMPLATES.map((text, at) => `  t${at}: |-\n    ${text}\n`).join("");
    const template = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n${data}`;
    const theirs = await clusterctl(["generate", "yaml"], template);
    expect(theirs).toMatchObject({ code: 0, err: "" });
    const ours = await capstan(["generate", "yaml"], template);
    expect(parseYamlDocuments(ours.out)).toEqual(parseYamlDocuments(theirs.out));
    expect((await capstan(["generate", "yaml", "--list-variables"], template)).out).toBe(
      (await clusterctl(["generate", "yaml", "--list-variables"], template)).out,
    );
  });

  test.each(BROKEN_TEMPLATES)("yaml: %s is refused by both", async (text) => {
    const template = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  t: |-\n    ${text}\n`;
    const theirs = await clusterctl(["generate", "yaml"], template);
    const ours = await capstan(["generate", "yaml"], template);
    expect([theirs.code, ours.code]).toEqual([1, 1]);
  });

  test("cluster: a template from a file, with variables from flags and the config file", async () => {
    const file = join(dir, "template.yaml");
    await writeFile(
      file,
      [
        "apiVersion: cluster.x-k8s.io/v1beta2",
        "kind: Cluster",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: clusterctl's variables
        "metadata: { name: '${CLUSTER_NAME}', labels: { cp: '${CONTROL_PLANE_MACHINE_COUNT}', w: '${WORKER_MACHINE_COUNT}' } }",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: clusterctl's variables
        "spec: { topology: { version: '${KUBERNETES_VERSION}', classRef: { name: '${CLASS:=quick}' } } }",
        "",
      ].join("\n"),
    );
    const flags = ["--from", file, "--kubernetes-version", "v1.37.1", "--worker-machine-count", "3", "-n", "team"];
    const common = ["generate", "cluster", "g1", ...flags, "--kubeconfig", standalone.kubeconfig];
    const theirs = await clusterctl(common);
    expect(theirs).toMatchObject({ code: 0, err: "" });
    expect(parseYamlDocuments((await capstan(common)).out)).toEqual(parseYamlDocuments(theirs.out));
    expect((await capstan([...common, "--list-variables"])).out).toBe(
      (await clusterctl([...common, "--list-variables"])).out,
    );
  });

  test("cluster: our own templates are taken by clusterctl", async () => {
    const file = join(dir, "own.yaml");
    const ours = await capstan(["generate", "cluster", "g2", "-i", "memory", "--kubernetes-version", "v1.37.1"]);
    expect(ours.code).toBe(0);
    await writeFile(file, ours.out);
    const theirs = await clusterctl([
      "generate",
      "cluster",
      "g2",
      "--from",
      file,
      "--kubeconfig",
      standalone.kubeconfig,
    ]);
    expect(theirs.out.trimEnd()).toBe(ours.out.trimEnd());
  });
});

describe("our templates in a clusterctl repository", () => {
  const [components] = GENERATED_FOLDERS;
  const label = "infrastructure-capstan/v0.1.0";
  let repository: string;
  let config: string;

  beforeAll(async () => {
    repository = join(dir, "repository");
    for (const [path, text] of generatedFiles("0.1.0")) {
      if (!path.startsWith(`${components}/`)) continue;
      const file = join(repository, path.slice(components.length + 1));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    config = join(dir, "clusterctl.yaml");
    const url = join(repository, label, "infrastructure-components.yaml");
    const image = "IMAGE_URL: http://images.example/live.iso\n";
    await writeFile(config, `providers: [{name: capstan, type: InfrastructureProvider, url: ${url}}]\n${image}`);
  });

  test.each([
    [undefined, ["ByoMachineTemplate"]],
    ["bare-metal", ["Metal3MachineTemplate"]],
    ["mixed", ["ByoMachineTemplate", "Metal3MachineTemplate"]],
    ["in-memory", ["MemoryMachineTemplate"]],
  ])("flavor %s is filled by clusterctl and by ours alike, and our API takes it", async (flavor, machines) => {
    const name = `t-${flavor ?? "standard"}`;
    const flags = ["--kubernetes-version", "v1.37.1", "--worker-machine-count", "2", "--config", config];
    const common = ["generate", "cluster", name, ...flags, "--kubeconfig", standalone.kubeconfig];
    const flavored = flavor === undefined ? [] : ["--flavor", flavor];
    const theirs = await clusterctl([...common, "--infrastructure", "capstan:v0.1.0", ...flavored]);
    expect(theirs).toMatchObject({ code: 0, err: "" });
    const file = `cluster-template${flavor === undefined ? "" : `-${flavor}`}.yaml`;
    const from = await clusterctl([...common, "--from", join(repository, label, file)]);
    expect(from.out).toBe(theirs.out);
    expect((await capstan([...common, "--from", join(repository, label, file)])).out).toBe(`${theirs.out.trimEnd()}\n`);
    const objects = parseYamlDocuments(theirs.out) as Unstructured[];
    expect(objects.map(({ kind }) => kind).filter((kind) => kind.endsWith("MachineTemplate"))).toEqual(machines);
    const counts = objects.filter(({ kind }) => kind === "MachineDeployment").map(({ spec }) => spec);
    expect(counts).toMatchObject(machines.map((_, at) => ({ replicas: at === 0 ? 2 : 1 })));
    const target = await loadKubeconfig({ clock: systemClock, path: standalone.kubeconfig });
    const transport = httpTransport(target, { clock: systemClock });
    const client = new Client(transport, { fieldManager: "user", clock: systemClock });
    for (const object of objects) {
      const path = resourcePath(await client.kindOf(object), "default");
      await client.request({ method: "POST", path, query: { fieldValidation: "Strict" }, body: object });
    }
    await transport.close();
  });
});

/** clusterctl 1.14 names objects `Kind NAMESPACE/NAME, VERSION` without their role, and puts the control plane first; ours is as before 1.14. */
function objectsOf(lines: readonly string[]): string[] {
  return lines
    .map((line) =>
      line
        .replace(/^[^A-Za-z0-9]+/, "")
        .replace(/^(ClusterInfrastructure|ControlPlane|MachineInfrastructure|BootstrapConfig) - /, "")
        .replace(/^(\w+) [^\s/]+\/([^ ,]+)(, v\S+)? /, "$1/$2 "),
    )
    .toSorted();
}
