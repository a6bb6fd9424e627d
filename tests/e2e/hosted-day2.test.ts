import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { Reader } from "../docs/reader.ts";
import { Shell } from "../docs/shell.ts";
import { askAgainAndAgain, servedCertificate } from "./ask.ts";
import { CLI } from "./capstan/instance.ts";
import { eventually, timed } from "./harness/index.ts";
import { ObjectStore } from "./harness/object-store.ts";
import { HostedPlanes } from "./hosted-planes.ts";
import { type OidcIssuer, startOidcIssuer } from "./oidc-issuer.ts";

/** What happens to a hosted control plane over the years, with real components and without nodes. */
let planes: HostedPlanes;
let issuer: OidcIssuer;
let shell: Shell;
/** Types what the page says about more than one of each. */
let reader: Reader;
let store: ObjectStore | undefined;
const scratch = mkdtempSync(join(tmpdir(), "capstan-day2-"));
const config = join(scratch, "kubeconfig");

/** The settings of kube-apiserver from the beginning; the policy comes from a Secret. */
function settings(): object {
  const podSecurity = {
    apiVersion: "pod-security.admission.config.k8s.io/v1",
    kind: "PodSecurityConfiguration",
    defaults: { enforce: "baseline", "enforce-version": "latest" },
  };
  const admission = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AdmissionConfiguration",
    plugins: [{ name: "PodSecurity", configuration: podSecurity }],
  };
  return {
    extraArgs: [{ name: "event-ttl", value: "2h" }],
    files: [
      { name: "policy.yaml", contentFrom: { secret: { name: "audit", key: "policy" } } },
      { name: "admission.yaml", content: JSON.stringify(admission) },
      { name: "issuer.crt", content: issuer.caPem },
    ],
    oidc: { issuerURL: issuer.url, clientID: "kubernetes", groupsClaim: "groups", caFile: "issuer.crt" },
    audit: { policyFile: "policy.yaml", maxAgeDays: 1 },
    encryption: { resources: ["secrets"] },
    admission: { enable: ["AlwaysPullImages"], configFile: "admission.yaml" },
  };
}

beforeAll(async () => {
  planes = await HostedPlanes.start();
  issuer = await startOidcIssuer();
  shell = await Shell.make(CLI, planes.capstan.dataDir);
  reader = new Reader("docs/hosted-control-planes.md", "tests/e2e/hosted-day2.test.ts", shell);
  const policy = JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] });
  await planes.capstan.kubectl("create", "secret", "generic", "audit", `--from-literal=policy=${policy}`);
  await planes.create("demo", { replicas: 1, apiServer: settings() });
  await planes.told("demo", "Available", /^True/);
  await connect();
});

afterAll(async () => {
  await planes?.close();
  await issuer?.close();
  await shell?.close();
  store?.close();
  rmSync(scratch, { recursive: true, force: true });
});

async function connect(): Promise<void> {
  writeFileSync(config, await planes.kubeconfig("demo"), { mode: 0o600 });
}
const kubectl = (...args: string[]): Promise<string> => planes.kubectl(config, ...args);
const upToDate = (): Promise<unknown> => planes.told("demo", "UpToDate", /^True/);

/** The CAs in the kubeconfig as it is now. */
function ca(): string {
  const document = parse(readFileSync(config, "utf8")) as { clusters: { cluster: Record<string, string> }[] };
  const data = document.clusters[0]?.cluster["certificate-authority-data"] ?? "";
  return Buffer.from(data, "base64").toString("utf8");
}

/** The names in the certificate that is served somewhere. */
const namesServedAt = async ({ hostname, port }: URL): Promise<string> =>
  (await servedCertificate(hostname, Number(port))).subjectaltname ?? "";

const pidOf = (program: string): number | undefined => {
  try {
    return planes.pid("demo", program);
  } catch {
    return undefined;
  }
};

test("a flag that kube-apiserver does not know leaves the running one serving", async () => {
  const before = pidOf("kube-apiserver");
  const stop = askAgainAndAgain(await planes.server("demo"), ca());
  await planes.patch("demo", { spec: { apiServer: { extraArgs: [{ name: "no-such-flag", value: "1" }] } } });
  await planes.told("demo", "UpToDate", /^False ConfigurationRefused .*unknown flag: --no-such-flag/);
  expect(await planes.condition("demo", "Available")).toMatch(/^True/);
  expect(await reader.type("Troubleshoot", "capstan why")).toContain("unknown flag: --no-such-flag");
  expect(await reader.type("Troubleshoot", "kubectl get hcp")).toMatch(
    /^UpToDate ConfigurationRefused: .*no-such-flag/m,
  );
  expect(await reader.type("Troubleshoot", "capstan logs")).toContain("quota admission added evaluator");
  await planes.patch("demo", { spec: { apiServer: settings() } });
  await upToDate();
  expect(pidOf("kube-apiserver")).toBe(before);
  expect((await stop()).failures).toEqual([]);
});

test("a name that is added is in the certificate that is served, and nothing restarts for it", async () => {
  const before = pidOf("kube-apiserver");
  const server = new URL(await planes.server("demo"));
  expect(await reader.type("Expose", "kubectl get hcp")).toContain(server.port);
  expect(await namesServedAt(server)).not.toContain("DNS:api.example.org");
  await reader.type("Expose", "certSANs");
  await timed("the new name", () =>
    eventually("the new name", async () => (await namesServedAt(server)).includes("DNS:api.example.org")),
  );
  await upToDate();
  expect(pidOf("kube-apiserver")).toBe(before);
});

test("people log in elsewhere, requests are recorded, Secrets are encrypted, and what a policy forbids is refused", async () => {
  expect(readFileSync(`/proc/${pidOf("kube-apiserver")}/cmdline`, "utf8")).toContain("--event-ttl=2h");
  const token = issuer.token("kubernetes", { sub: "jane", groups: ["builders"] });
  const ask = (text: string): Promise<number | string> =>
    planes.withToken("demo", "/api/v1/namespaces/default/pods", text);
  await eventually("known, and without rights", async () => (await ask(token)) === 403);
  await kubectl("create", "rolebinding", "builders", "--clusterrole=view", "--group=builders");
  await eventually("with the rights of its group", async () => (await ask(token)) === 200);
  expect(await ask(issuer.token("another", { sub: "jane", groups: ["builders"] })), "for somebody else").toBe(401);

  await kubectl("create", "secret", "generic", "hidden", "--from-literal=word=swordfish");
  const stored = await planes.etcdctl("demo", ["get", "/registry/secrets/default/hidden", "--print-value-only"]);
  expect(stored).toContain("k8s:enc:secretbox:v1:");
  expect(stored).not.toContain("swordfish");

  const pod = (name: string, more: object): string => {
    const spec = { containers: [{ name: "x", image: "x", imagePullPolicy: "Never" }], ...more };
    const file = join(scratch, `${name}.json`);
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec }));
    return file;
  };
  const pulled = await kubectl(
    "create",
    "-f",
    pod("pulled", {}),
    "-o",
    "jsonpath={.spec.containers[0].imagePullPolicy}",
  );
  expect(pulled).toBe("Always");
  await expect(kubectl("create", "-f", pod("mighty", { hostNetwork: true }))).rejects.toThrow(/violates PodSecurity/);
  const log = readFileSync(join(planes.folder("demo"), "kube-apiserver/data/audit.log"), "utf8");
  expect(log).toMatch(/"user":\{"username":"[^"]*#jane"/);
  expect(log).toContain('"name":"mighty"');
  expect(log).not.toContain("swordfish");
});

test("etcd grows from one member to three, and what was written is there", async () => {
  await kubectl("create", "configmap", "from-one");
  await reader.type("More than one of each", '"replicas":3');
  await timed("three members", () =>
    eventually("three members", async () => pidOf("etcd-2") !== undefined, { timeout: 120_000 }),
  );
  await upToDate();
  await planes.told("demo", "EtcdClusterHealthy", /^True/);
  expect(await reader.type("More than one of each", "kubectl get hcp")).toBe("");
  await kubectl("create", "configmap", "from-three");
  expect(readFileSync(`/proc/${pidOf("kube-apiserver")}/cmdline`, "utf8").match(/127\.0\.0\.1:\d+,/g)).toHaveLength(2);
});

test("a member that lost its data is taken in again", async () => {
  const before = pidOf("etcd-1") ?? 0;
  rmSync(join(planes.folder("demo"), "etcd-1/data/member"), { recursive: true });
  process.kill(before, "SIGKILL");
  await timed("etcd-1 is back", () =>
    eventually("another process with data", async () => {
      const data = join(planes.folder("demo"), "etcd-1/data/member");
      return pidOf("etcd-1") !== before && statSync(data, { throwIfNoEntry: false }) !== undefined;
    }),
  );
  await planes.told("demo", "EtcdClusterHealthy", /^True/);
  await upToDate();
  await kubectl("get", "configmap", "from-one", "from-three");
});

test("a member whose files are damaged is taken in again", async () => {
  const before = pidOf("etcd-2") ?? 0;
  const wal = join(planes.folder("demo"), "etcd-2/data/member/wal");
  process.kill(before, "SIGKILL");
  for (const file of readdirSync(wal).filter((name) => name.endsWith(".wal"))) {
    const path = join(wal, file);
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 64, Math.min(bytes.length, 65536));
    writeFileSync(path, bytes);
  }
  truncateSync(join(planes.folder("demo"), "etcd-2/data/member/snap/db"), 4096);
  await planes.told("demo", "EtcdClusterHealthy", /^False/);
  await timed("etcd-2 is back", () => planes.told("demo", "EtcdClusterHealthy", /^True/));
  await upToDate();
  await kubectl("get", "configmap", "from-one", "from-three");
});

test("etcd shrinks from three members to one, and what was written is there", async () => {
  await reader.type("More than one of each", '"replicas":1');
  await timed("one member", () =>
    eventually("one member", async () => pidOf("etcd-1") === undefined && pidOf("etcd-2") === undefined, {
      timeout: 120_000,
    }),
  );
  await upToDate();
  await planes.told("demo", "EtcdClusterHealthy", /^True/);
  await kubectl("get", "configmap", "from-one", "from-three");
  await kubectl("create", "configmap", "from-one-again");
  expect(reader.untyped()).toEqual([]);
});

test("an etcd that is full of old revisions empties itself; full of objects it says so until some are deleted", async () => {
  const file = join(scratch, "big.json");
  /** ConfigMaps of a size under these names, in one go. */
  const write = (verb: string, bytes: number, names: readonly string[]): Promise<string> => {
    const items = names.map((name, round) => {
      const data = { text: `${round}${"x".repeat(bytes)}` };
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
    });
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    return kubectl(verb, "-f", file);
  };
  const times = (count: number, name: (n: number) => string): string[] =>
    Array.from({ length: count }, (_, n) => name(n));
  const FULL = /space exceeded|etcdserver/;
  // With more than half of the quota in use it is looked at often.
  await write("create", 900_000, ["big"]);
  await write(
    "replace",
    900_000,
    times(10, () => "big"),
  );
  await planes.patch("demo", { spec: { etcd: { quotaBytes: 16_777_216 } } });
  await upToDate();
  await planes.told("demo", "EtcdClusterHealthy", /^True/);
  await expect(
    write(
      "replace",
      900_000,
      times(20, () => "big"),
    ),
  ).rejects.toThrow(FULL);
  await timed("written again", () =>
    eventually("a write", async () => (await kubectl("create", "configmap", "after-the-flood")) !== ""),
  );
  await expect(
    write(
      "create",
      900_000,
      times(20, (n) => `big-${n}`),
    ),
  ).rejects.toThrow(FULL);
  // Room that compaction and defragmentation make is used as well, until objects alone fill the quota.
  let round = 0;
  await timed("full of objects", () =>
    eventually("NoSpace", async () => {
      const told = await planes.condition("demo", "EtcdClusterHealthy");
      if (/^False NoSpace .*spec\.etcd\.quotaBytes/.test(told)) return true;
      await write(
        "create",
        200_000,
        times(5, (n) => `small-${round++}-${n}`),
      );
      throw new Error(told);
    }),
  );
  const names = (await kubectl("get", "configmaps", "-o", "name")).split("\n").filter((name) => /big|small/.test(name));
  await kubectl("delete", ...names, "--wait=false");
  await timed("room again", () => planes.told("demo", "EtcdClusterHealthy", /^True/));
  await kubectl("create", "configmap", "room-again");
});

test("a backup in an object store outlives its control plane; a new one begins with it, under the old address", async () => {
  store = await ObjectStore.start();
  const { endpoint, bucket, accessKeyId, secretAccessKey } = store;
  const keys = Object.entries({ accessKeyId, secretAccessKey }).map(([key, value]) => `--from-literal=${key}=${value}`);
  await planes.capstan.kubectl("create", "secret", "generic", "s3-keys", ...keys);
  const etcd = { backup: { s3: { endpoint, bucket, prefix: "site-1", secretName: "s3-keys" } } };
  await planes.patch("demo", { spec: { etcd } });
  await planes.capstan.kubectl("annotate", "hcp", "demo", "capstan.dev/backup=now");
  const backup = await timed("backup", () =>
    eventually("a backup", async () => {
      const status = await planes.capstan.kubectl("get", "hcp", "demo", "-o", "jsonpath={.status.backup}");
      const { lastName, location } = JSON.parse(status) as Record<string, string>;
      return location === `${endpoint}/${bucket}/site-1` ? lastName : undefined;
    }),
  );
  const server = await planes.server("demo");
  const before = ca();
  await timed("demo deleted", () => planes.remove("demo"));
  const apiServer = settings();
  await planes.create("heir", { apiServer, etcd: { ...etcd, restoreFrom: { backup, controlPlane: "demo" } } });
  await planes.told("heir", "Available", /^True/);
  expect(await planes.server("heir")).toBe(server);
  expect(ca(), "who trusted the old one trusts the new one").toBe(before);
  await kubectl("get", "configmap", "from-one", "room-again");
  expect(await kubectl("get", "secret", "hidden", "-o", "jsonpath={.data.word}")).toBe(btoa("swordfish"));
});
