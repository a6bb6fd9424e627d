import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandPlane, type CommandResult, withoutChance } from "./plane.ts";

/** Output of every command against one plane; `npx vitest run tests/cli -u` writes the golden files again. */
let plane: CommandPlane;
/** Events go after an hour: read before it has passed. */
let events: CommandResult;

const BROKEN = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: { name: broken, namespace: default }
spec:
  infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ByoCluster, name: broken }
  controlPlaneRef: { apiGroup: controlplane.cluster.x-k8s.io, kind: HostedControlPlane, name: broken }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ByoCluster
metadata: { name: broken, namespace: default }
spec: {}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: HostedControlPlane
metadata: { name: broken, namespace: default }
spec: { version: v1.34.4, placement: { type: Embedded } }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: { name: broken-own, namespace: default }
spec:
  clusterName: broken
  replicas: 1
  selector: { matchLabels: { pool: own } }
  template:
    metadata: { labels: { pool: own } }
    spec:
      clusterName: broken
      version: v1.34.4
      bootstrap: { configRef: { apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: own } }
      infrastructureRef: { apiGroup: infrastructure.cluster.x-k8s.io, kind: ByoMachineTemplate, name: own }
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: { name: own, namespace: default }
spec: { template: { spec: { format: cloud-config } } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: ByoMachineTemplate
metadata: { name: own, namespace: default }
spec: { template: { spec: {} } }
`;

beforeAll(async () => {
  plane = await CommandPlane.start();
  for (const document of parseYamlDocuments(BROKEN)) await plane.client.create(document as Unstructured);
  const made = await plane.run(
    "create cluster c1 --kubernetes-version v1.34.4 --workers name=a,provider=memory,replicas=2 --workers name=b,provider=memory",
  );
  expect(made).toMatchObject({ code: 0 });
  events = await plane.run("events c1");
  // Ages in whole hours do not depend on how long each step took.
  await plane.clock.advance(3_630_000);
}, 60_000);

afterAll(async () => {
  await plane.stop();
});

async function golden(name: string, result: CommandResult): Promise<void> {
  const text = [`exit code ${result.code}`, "--- standard output", result.out, "--- standard error", result.err];
  await expect(withoutChance(text.join("\n"))).toMatchFileSnapshot(`golden/commands/${name}.txt`);
}

const CASES: [string, string | string[]][] = [
  ["get-clusters", "get clusters"],
  ["get-clusters-all-namespaces", "get clusters -A"],
  ["get-wide", "get md -o wide"],
  ["get-name", "get cluster/c1 md/c1-a -o name"],
  ["get-two-types", "get clusters,md"],
  ["get-jsonpath", ["get", "cluster", "c1", "-o", "jsonpath={.metadata.name}: {.status.phase}{'\\n'}"]],
  [
    "get-jsonpath-range",
    ["get", "md", "-o", 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.spec.replicas}{"\\n"}{end}'],
  ],
  [
    "get-custom-columns",
    ["get", "md", "-o", "custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas,NONE:.spec.nothing"],
  ],
  ["get-selector-none", "get machines -l pool=nothing"],
  ["get-no-headers", "get md --no-headers"],
  ["get-not-found", "get cluster nope"],
  ["get-ignore-not-found", "get cluster nope --ignore-not-found"],
  ["get-unknown-type", "get clusterz"],
  ["get-unknown-format", "get clusters -o xml"],
  ["get-name-and-selector", "get cluster c1 -l a=b"],
  ["describe-cluster", "describe cluster c1"],
  ["describe-cluster-all", "describe cluster c1 --grouping=false --echo --show-machinesets"],
  ["describe-cluster-conditions", "describe cluster c1 --show-conditions HostedControlPlane,Cluster/c1"],
  ["describe-cluster-broken", "describe cluster broken"],
  ["describe-cluster-not-found", "describe cluster nope"],
  ["describe-word-left-out", "describe c1"],
  ["why", "why c1"],
  ["why-broken", "why broken"],
  ["why-part", "why md/broken-own"],
  ["why-part-well", "why hcp c1"],
  ["why-not-found", "why nope"],
  ["why-part-not-found", "why machine nope"],
  ["version", "version"],
  ["colors-always", "describe cluster c1 --color always"],
  ["verbosity-wrong", "get clusters -v much"],
  ["request-timeout-wrong", "get clusters --request-timeout soon"],
  ["kubeconfig-not-found", "kubeconfig nope"],
  ["upgrade-plan", "upgrade plan"],
  ["upgrade-apply-too-far", "upgrade apply c1 --to v1.36.0"],
  ["upgrade-apply-nothing", "upgrade apply c1"],
  ["scale-several-groups", "scale cluster c1 --replicas 3"],
  ["scale-nothing", "scale md/c1-a"],
  ["scale-no-replicas", "scale cluster/c1 --replicas many"],
  ["create-again", "create cluster c1"],
  ["create-otherwise", "create cluster c1 --workers provider=memory,replicas=9"],
  ["create-not-ours", "create cluster broken"],
  ["create-bad-name", "create cluster Not_A_Name"],
  ["create-bad-provider", "create cluster x --workers provider=cloud"],
  ["create-bad-key", "create cluster x --workers provider=byoh,image=x"],
  ["create-missing-image", "create cluster x --workers provider=metal3"],
  ["create-same-group-twice", "create cluster x --workers provider=memory --workers provider=memory"],
  ["create-no-name", "create cluster"],
  [
    "create-dry-run",
    "create cluster mixed --kubernetes-version v1.34.4 --endpoint 192.0.2.1 --label cni=small --workers name=own,provider=byoh,replicas=2,select.rack=1 --workers name=metal,provider=metal3,replicas=2,image=http://images/node.iso,format=live-iso --dry-run -o yaml",
  ],
  [
    "create-dry-run-pool",
    "create cluster pooled --kubernetes-version v1.34.4 --pool replicas=3,name=general --workers name=own,provider=byoh,max=2,cost=0.10 --workers name=spare,provider=memory,min=1 --dry-run",
  ],
  ["create-pool-without-groups", "create cluster x --pool replicas=3"],
  ["create-share-without-pool", "create cluster x --workers provider=memory,max=2"],
  ["create-pool-bad-strategy", "create cluster x --pool strategy=Nicest --workers provider=memory"],
  ["create-dry-run-name", "create cluster mixed --workers provider=byoh --dry-run -o name"],
  [
    "create-dry-run-server",
    "create cluster x --kubernetes-version v1.34.4 --workers provider=memory --dry-run=server -o name",
  ],
  ["delete-needs-yes", "delete cluster c1"],
  ["delete-not-found", "delete cluster nope --yes"],
  ["delete-ignore-not-found", "delete cluster nope --yes --ignore-not-found"],
  ["logs-embedded", "logs c1"],
  ["generate-cluster", "generate cluster g1 -i byoh --kubernetes-version v1.34.4 --worker-machine-count 3 -n team"],
  ["generate-cluster-variables", "generate cluster g1 -i metal3 --list-variables"],
  ["generate-cluster-missing", "generate cluster g1 -i metal3"],
  ["generate-cluster-no-template", "generate cluster g1"],
  ["status", "status"],
  ["down", "down"],
  ["backup-not-running", "backup /tmp/never-written"],
  ["kubernetes-list", "kubernetes list"],
  ["kubernetes-remove-missing", "kubernetes remove v1.0.0"],
  ["host-list", "host list"],
  ["host-add-bad-name", "host add Not_A_Name"],
  ["host-remove-not-found", "host remove nope"],
  ["host-logs-not-found", "host logs nope"],
  ["demo-break-not-found", "demo break nope"],
  ["demo-repair-not-found", "demo repair nope"],
  ["dashboard-not-running", "dashboard"],
  ["events-not-found", "events nope"],
  ["pause-not-found", "pause nope"],
  ["resume-not-found", "resume nope"],
  ["restore-missing", "restore /tmp/never-written"],
  ["kubernetes-install-not-a-version", "kubernetes install newest"],
  ["generate-yaml-missing-file", "generate yaml --from /tmp/never-written"],
  ["logs-not-found", "logs nope"],
  ["manager-no-kubeconfig", "manager --kubeconfig /tmp/never-written"],
];

describe("output", () => {
  test.each(CASES)("%s", async (name, line) => {
    const result = await plane.run(line);
    // Folders of this run are not part of the output's look.
    const clean = (text: string): string =>
      text.replaceAll(/\/[^\s]*capstan-cli-[^\s/]*/g, "HOME").replace(/node v[\d.]+/, "node VERSION");
    await golden(name, { code: result.code, out: clean(result.out), err: clean(result.err) });
  });

  test("get -o json and yaml print the stored object without managedFields", async () => {
    const json = JSON.parse((await plane.run("get cluster c1 -o json")).out) as Unstructured;
    const [yaml] = parseYamlDocuments((await plane.run("get cluster c1 -o yaml")).out);
    expect(json).toEqual(yaml);
    expect(json).toMatchObject({ kind: "Cluster", metadata: { name: "c1" } });
    expect(json.metadata.managedFields).toBeUndefined();
    const list = JSON.parse((await plane.run("get machines -o json")).out) as { kind: string; items: Unstructured[] };
    expect(list.kind).toBe("List");
    expect(list.items.every(({ kind, apiVersion }) => kind === "Machine" && apiVersion !== "")).toBe(true);
  });

  test("events lists the events of the cluster's parts", () => {
    const { code, out } = events;
    expect(code).toBe(0);
    expect(out).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE\n/);
    expect(out).toContain("machine/c1-a-");
    expect(out).not.toContain("broken");
  });

  test("kubeconfig prints a valid kubeconfig", async () => {
    const { code, out } = await plane.run("kubeconfig c1");
    expect(code).toBe(0);
    expect(parseYamlDocuments(out)).toMatchObject([{ kind: "Config" }]);
  });

  test("accepts global options before or after the command's name", async () => {
    const { out } = await plane.run("--color always describe cluster c1");
    expect(out).toContain("\u001b[32mTrue");
    // A minute may pass between the two.
    const ageless = (text: string): string => text.replaceAll(/(?<=\s)\d+[smhd]\b/g, "AGE");
    expect(ageless((await plane.run("describe cluster c1 --color always")).out)).toBe(ageless(out));
  });

  test("prints colours only when they are enabled", async () => {
    const terminal = { outColors: true, errColors: true, redraw: false, columns: 0 };
    expect((await plane.run("describe cluster c1", { terminal })).out).toContain("\u001b[32mTrue");
    expect((await plane.run("describe cluster c1")).out).not.toContain("\u001b");
  });
});

describe("completion", () => {
  test.each([
    [["desc"], ["describe"]],
    [["describe", ""], ["cluster\tShow a cluster with its control plane, infrastructure and workers as a tree"]],
    [
      ["describe", "cluster", ""],
      ["broken", "c1"],
    ],
    [
      ["describe", "cluster", "c1", "--show-m"],
      ["--show-machinesets\tShow MachineSets between deployments and machines"],
    ],
    [
      ["why", "-n", "kube-"],
      ["kube-node-lease", "kube-public", "kube-system"],
    ],
    [
      ["get", "machined"],
      ["machinedeployments", "machinedrainrules"],
    ],
    [
      ["get", "machinedeployments", "c1-"],
      ["c1-a", "c1-b"],
    ],
    [
      ["create", "cluster", "x", "--placement", "P"],
      ["Process", "Pods"],
    ],
    [["up", "--data", ""], [":directories"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["nothing", ""], []],
  ])("%j", async (words, expected) => {
    const { code, out } = await plane.run(["__complete", "--", ...words]);
    expect({ code, lines: out.split("\n").filter((line) => line !== "") }).toEqual({ code: 0, lines: expected });
  });

  test.each(["bash", "zsh", "fish"])("script for %s", async (shell) => {
    await golden(`completion-${shell}`, await plane.run(`completion ${shell}`));
  });
});

describe("changes", () => {
  test("scale waits until the machines are available", async () => {
    const result = await plane.run("scale md c1-b --replicas 3");
    expect(result).toMatchObject({ code: 0, out: "machinedeployment/c1-b scaled from 1 to 3\n" });
    expect(result.err).toContain("In the test's API\n");
    expect(result.err).toContain("3 there, 3 available, 3 wanted");
  });

  test("pause and resume", async () => {
    expect(await plane.run("pause c1")).toMatchObject({ code: 0, out: "cluster/c1 paused\n" });
    expect(await plane.run("pause c1")).toMatchObject({ code: 0, out: "cluster/c1 is already paused\n" });
    expect(await plane.run("resume c1")).toMatchObject({ code: 0, out: "cluster/c1 resumed\n" });
  });

  test("upgrade upgrades the control plane first, then the workers", async () => {
    const result = await plane.run("upgrade apply c1 --to v1.35.4");
    expect(result).toMatchObject({ code: 0, out: "cluster/c1 is upgraded to v1.35.4\n" });
    const steps = result.err.split("\n").filter((line) => line.endsWith(": v1.35.4"));
    expect(steps).toEqual(["control plane: v1.35.4", "workers c1-a: v1.35.4", "workers c1-b: v1.35.4"]);
  });
});
