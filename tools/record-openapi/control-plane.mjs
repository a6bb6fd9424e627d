/** Starts a throw-away etcd and kube-apiserver on loopback and speaks to it; stop() removes everything. */
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TOKEN = "recorder";

/** The folder with etcd and kube-apiserver: the argument, the environment, or the usual places. */
export function findBinaries(given) {
  const cache = join(homedir(), ".cache");
  const places = [
    given,
    process.env.CAPSTAN_KUBERNETES_BIN,
    join(cache, "capstan/kubernetes/v1.37.1/bin"),
    join(cache, "capstan-real-nodes/bin"),
  ];
  const found = places.find((p) => p && existsSync(join(p, "etcd")) && existsSync(join(p, "kube-apiserver")));
  if (!found)
    throw new Error("no etcd and kube-apiserver found: run `npm run kubernetes`, or set CAPSTAN_KUBERNETES_BIN");
  return found;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export async function startControlPlane(bin) {
  const dir = mkdtempSync(join(tmpdir(), "record-"));
  const [client, peer, secure] = await Promise.all([freePort(), freePort(), freePort()]);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(dir, "sa.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  writeFileSync(join(dir, "tokens.csv"), `${TOKEN},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });
  const etcdUrl = `http://127.0.0.1:${client}`;
  const start = (name, args) => {
    const child = spawn(join(bin, name), args, { stdio: ["ignore", "ignore", "pipe"] });
    let tail = "";
    child.stderr.on("data", (d) => {
      tail = (tail + d).slice(-4000);
    });
    return { name, child, tail: () => tail };
  };
  const etcd = start("etcd", [
    `--data-dir=${join(dir, "etcd")}`,
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
    "--unsafe-no-fsync",
  ]);
  const apiserver = start("kube-apiserver", [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    // Loopback is refused; no client dials it.
    "--advertise-address=192.0.2.1",
    `--secure-port=${secure}`,
    `--cert-dir=${join(dir, "certs")}`,
    `--token-auth-file=${join(dir, "tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--disable-admission-plugins=ServiceAccount",
    "--allow-privileged=true",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${join(dir, "sa.key")}`,
    `--service-account-signing-key-file=${join(dir, "sa.key")}`,
    "--service-cluster-ip-range=10.96.0.0/16",
  ]);
  const call = (method, path, o = {}) =>
    new Promise((resolve, reject) => {
      const body = o.body === undefined ? undefined : JSON.stringify(o.body);
      const req = request(
        {
          host: "127.0.0.1",
          port: secure,
          method,
          path,
          rejectUnauthorized: false,
          headers: {
            authorization: `Bearer ${TOKEN}`,
            accept: o.accept ?? "application/json",
            ...(body
              ? { "content-type": o.type ?? "application/json", "content-length": Buffer.byteLength(body) }
              : {}),
            ...o.headers,
          },
        },
        (res) => {
          const chunks = [];
          res.on("data", (c) => chunks.push(c));
          res.on("end", () => {
            const bytes = Buffer.concat(chunks);
            const text = bytes.toString();
            let json;
            try {
              json = JSON.parse(text);
            } catch {
              json = undefined;
            }
            resolve({ status: res.statusCode, headers: res.headers, bytes, text, json });
          });
        },
      );
      req.on("error", reject);
      req.end(body);
    });
  const stop = async () => {
    for (const { child } of [apiserver, etcd]) {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = new Promise((resolve) => child.once("exit", resolve));
        child.kill("SIGKILL");
        await gone;
      }
    }
    rmSync(dir, { recursive: true, force: true });
  };
  for (let i = 0; ; i++) {
    const dead = [etcd, apiserver].find((p) => p.child.exitCode !== null);
    if (dead || i > 300) {
      const tails = [etcd, apiserver].map((p) => `--- ${p.name}\n${p.tail()}`).join("\n");
      await stop();
      throw new Error(`the control plane did not start\n${tails}`);
    }
    const answer = await call("GET", "/readyz").catch(() => undefined);
    if (answer?.status === 200) break;
    await sleep(200);
  }
  return { call, stop };
}
