import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nodeScripts } from "./scripts.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "capstan-node-"));
  for (const folder of [
    "dev",
    "run",
    "var/lib/kubelet",
    "var/lib/containerd",
    "etc/kubernetes",
    "usr/share/capstan/images",
    "capstan",
  ])
    mkdirSync(join(root, folder), { recursive: true });
  // What a node has and this machine may not have: the calls are written down.
  for (const name of ["systemctl", "journalctl", "ctr"]) program(name, "exit 0");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(name: string, body: string): void {
  write(`bin/${name}`, `#!/bin/bash\necho "${name} $*" >>${root}/calls\n${body}\n`);
  chmodSync(join(root, "bin", name), 0o755);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const read = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "");
const calls = (): string[] => read("calls").trim().split("\n");

/** Runs a script with all its folders below the root of the test. */
function run(script: string, timeoutSeconds = 600): number | null {
  const text = nodeScripts(timeoutSeconds)[script] ?? "";
  const moved = text
    .replaceAll(/(?<![\w$}"])\/(dev\/termination-log|run|var|etc|usr\/share|capstan)(?=[/"\s;)])/g, `${root}/$1`)
    .replaceAll(">/dev/termination-log", `>${root}/dev/termination-log`);
  const { status } = spawnSync("/bin/bash", ["-c", moved], {
    env: { PATH: `${root}/bin:${process.env["PATH"]}` },
  });
  return status;
}

test.each(Object.keys(nodeScripts(600)).filter((name) => !name.endsWith(".service")))(
  "%s is a valid script",
  (name) => {
    execFileSync("/bin/bash", ["-n"], { input: nodeScripts(600)[name] });
  },
);

describe("the first start", () => {
  test("runs the bootstrap script, remembers that, and makes the startup probe succeed", () => {
    write("capstan/bootstrap", `echo done >${root}/bootstrap-ran`);
    expect(run("probe")).toBe(1);
    expect(run("run")).toBe(0);
    expect(read("bootstrap-ran")).toBe("done\n");
    expect(existsSync(join(root, "var/lib/kubelet/.capstan-bootstrapped"))).toBe(true);
    expect(read("run/cluster-api/bootstrap-success.complete")).toBe("success\n");
    expect(run("probe")).toBe(0);
  });

  test("imports every archive once", () => {
    write("capstan/bootstrap", "true");
    write("usr/share/capstan/images/pause.tar", "");
    run("run");
    run("run");
    expect(calls().filter((call) => call.startsWith("ctr"))).toEqual([
      `ctr --namespace k8s.io images import ${root}/usr/share/capstan/images/pause.tar`,
    ]);
  });

  test("reports what the bootstrap script reports when it fails, and ends the container", () => {
    write("capstan/bootstrap", `echo '"kubeadm join" exited with code 1' >"$CAPSTAN_REPORT"; exit 3`);
    expect(run("run")).toBe(1);
    expect(read("dev/termination-log")).toContain('"kubeadm join" exited with code 1');
    expect(calls()).toContain("systemctl --no-block exit 1");
    expect(existsSync(join(root, "var/lib/kubelet/.capstan-bootstrapped"))).toBe(false);
    expect(run("probe")).toBe(1);
  });

  test("reports the end of the kubelet's log when that does not run", () => {
    program("systemctl", '[ "$1" != is-active ]');
    program("journalctl", 'echo "failed to run Kubelet: kubelet is configured to not run on a host using cgroup v1"');
    write("capstan/bootstrap", "exit 1");
    run("run");
    expect(read("dev/termination-log"), "a kubelet that kubeadm has not configured says nothing").not.toContain(
      "kubelet",
    );
    write("var/lib/kubelet/config.yaml", "");
    run("run");
    expect(read("dev/termination-log")).toContain("configured to not run on a host using cgroup v1");
  });

  test("reports a bootstrap script that takes too long", () => {
    write("capstan/bootstrap", "sleep 30");
    expect(run("run", 1)).toBe(1);
    expect(read("dev/termination-log")).toContain("not done after 1 s (bootstrapTimeout)");
  });

  test("reports a missing bootstrap script and an archive that cannot be imported", () => {
    run("run");
    expect(read("dev/termination-log")).toContain("the Secret with the bootstrap script is missing");
    program("ctr", "echo 'unexpected EOF'; exit 1");
    write("usr/share/capstan/images/broken.tar", "");
    run("run");
    expect(read("dev/termination-log")).toContain("unexpected EOF");
  });

  test("reports no more than a termination message may have", () => {
    write("capstan/bootstrap", `head -c 100000 /dev/zero | tr '\\0' x >"$CAPSTAN_REPORT"; exit 1`);
    run("run");
    expect(read("dev/termination-log").length).toBeLessThanOrEqual(4096);
  });
});

describe("a later start on kept volumes", () => {
  beforeEach(() => {
    write("capstan/bootstrap", `echo again >${root}/bootstrap-ran`);
    write("var/lib/kubelet/.capstan-bootstrapped", "");
  });

  test("starts the kubelet and does not run the bootstrap script again", () => {
    write("etc/kubernetes/kubelet.conf", "");
    expect(run("run")).toBe(0);
    expect(read("bootstrap-ran")).toBe("");
    expect(calls()).toContain("systemctl enable --now kubelet");
    expect(run("probe")).toBe(0);
  });

  test("without /etc/kubernetes says which claim is missing", () => {
    expect(run("run")).toBe(1);
    expect(read("dev/termination-log")).toContain("volumeClaimTemplate etc-kubernetes");
  });
});

test("the unit starts after containerd and before it is up nothing else runs the script", () => {
  const unit = nodeScripts(600)["capstan-bootstrap.service"];
  expect(unit).toContain("After=containerd.service");
  expect(unit).toContain("ExecStart=/bin/bash /capstan/run");
  expect(unit).toContain("StandardOutput=journal+console");
});
