import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { generatedFiles, startManager } from "@capstan/manager";
import { httpTransport, loadKubeconfig, silentLogger } from "@capstan/runtime";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";

let real: RealKubernetes;
const folder = mkdtempSync(join(tmpdir(), "components-"));

beforeEach(async () => {
  real = await startKubeApiserver();
});

afterEach(() => real?.stop());

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("every component file installs on a real Kubernetes", async () => {
  for (const [path, text] of generatedFiles("0.1.0")) {
    if (!path.endsWith("components.yaml")) continue;
    const file = join(folder, path.replaceAll("/", "_"));
    writeFileSync(file, text.replaceAll("${CAPSTAN_IMAGE:=capstan:v0.1.0}", "capstan:v0.1.0"));
    const { stderr } = await real.kubectl("apply", "--server-side", "-f", file);
    expect(stderr).toBe("");
  }
  const { stdout } = await real.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  expect(stdout).toContain("customresourcedefinition.apiextensions.k8s.io/clusters.cluster.x-k8s.io condition met");
});

it("a manager outside the cluster serves its webhooks there and reconciles applied objects", async () => {
  const config = await loadKubeconfig({ clock: systemClock, path: real.kubeconfigFile });
  const transport = httpTransport(config, { clock: systemClock });
  const manager = await startManager({
    transport,
    kinds: { listen: { host: "127.0.0.1", port: 0 } },
    dataDir: join(folder, "data"),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  try {
    const cluster = (reference: string): string =>
      `{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: old, namespace: default},
        spec: {${reference}: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: MemoryCluster, name: old}}}`;
    await real.kubectlWithInput(cluster("infrastructureRef"), "create", "-f", "-");
    const phase = "--for=jsonpath={.status.phase}=Provisioning";
    const waited = await real.kubectl("wait", phase, "cluster/old", "--timeout=60s");
    expect(waited.stdout).toContain("condition met");
    const old = ["get", "clusters.v1beta1.cluster.x-k8s.io", "old", "-o"];
    const { stdout } = await real.kubectl(...old, "jsonpath={.spec.infrastructureRef.namespace}");
    expect(stdout).toBe("default");
    const refused = await real
      .kubectlWithInput(cluster("controlPlaneRef"), "replace", "-f", "-")
      .then(({ stderr }) => stderr, String);
    expect(refused).toContain("spec.infrastructureRef: Forbidden: cannot be removed");
  } finally {
    await manager.stop();
    await transport.close();
  }
});
