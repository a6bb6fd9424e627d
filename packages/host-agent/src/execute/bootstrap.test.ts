import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runBootstrap } from "./bootstrap.ts";
import { Footprint } from "./footprint.ts";
import { redact, tail } from "./redact.ts";
import { type CommandResult, type RunCommand, runCommand } from "./run-command.ts";

const JWT = `eyJ${"h".repeat(20)}.eyJ${"p".repeat(40)}.${"s".repeat(40)}`;
let root: string;
let state: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-bootstrap-"));
  state = await mkdtemp(join(tmpdir(), "capstan-state-"));
});
afterEach(async () => {
  for (const folder of [root, state]) await rm(folder, { recursive: true, force: true });
});

// Commands are real processes, so the clock is real; nothing waits for time.
const run = (data: string, more: object = {}) =>
  runBootstrap(data, {
    clock: systemClock,
    metadata: { local_hostname: "h1" },
    defaultInterface: "eth0",
    footprint: new Footprint(state, root),
    root,
    ...more,
  });

test("files are written with mode and content, templates filled in, commands run in order", async () => {
  const report = await run(`## template: jinja
#cloud-config

write_files:
-   path: /etc/join.yaml
    permissions: '0640'
    content: |
      name: {{ ds.meta_data.local_hostname }}
      device: {{ .DefaultNetworkInterfaceName }}
runcmd:
  - echo one
  - ["sh", "-c", "echo two"]
`);
  expect(report).toMatchObject({ ok: true });
  expect(await readFile(join(root, "etc/join.yaml"), "utf8")).toBe("name: h1\ndevice: eth0\n");
  expect((await stat(join(root, "etc/join.yaml"))).mode & 0o777).toBe(0o640);
  expect(report.steps.map((step) => [step.name, step.exitCode])).toEqual([
    ["write /etc/join.yaml", undefined],
    ["echo one", 0],
    ["sh -c echo two", 0],
  ]);
});

test("the first command that fails stops the bootstrap, with the command's own message", async () => {
  const report = await run("#cloud-config\nruncmd:\n- echo no space left on device >&2; exit 3\n- echo never\n");
  expect(report.ok).toBe(false);
  expect(report.message).toContain("exited with code 3: no space left on device");
  expect(report.steps).toHaveLength(1);
});

test("a host with cgroup v1, which kubeadm refuses, is reported with the remedy", async () => {
  const report = await run(
    "#cloud-config\nruncmd:\n- 'echo cgroups v1 support is deprecated and will be removed in a future release >&2; exit 1'\n",
  );
  expect(report.message).toContain(
    "add SystemVerification to joinConfiguration.nodeRegistration.ignorePreflightErrors",
  );
});

test("unsupported keys are refused by name before anything is changed", async () => {
  const report = await run(
    "#cloud-config\nwrite_files:\n- path: /x\n  source: {uri: u}\nmounts:\n- [ephemeral0, /b]\ndisk_setup: {a: {}}\nusers:\n- {name: a, snapuser: b}\npackages: [vim]\n",
  );
  expect(report.ok).toBe(false);
  expect(report.message).toContain(
    "requires disk_setup, mounts[0] (ephemeral0 is a cloud device), users[0].snapuser, packages, write_files[0].source, which this agent does not support",
  );
  await expect(stat(join(root, "x"))).rejects.toThrow();
});

test("data that is no cloud-config is an answer, not an exception", async () => {
  expect((await run("#!/bin/sh\necho hi")).message).toContain("cannot be read");
});

test("secrets never leave the host", async () => {
  const report = await run(
    "#cloud-config\nruncmd:\n- 'echo kubeadm join --token abcdef.0123456789abcdef --certificate-key=c0ffee'\n",
  );
  expect(JSON.stringify(report)).not.toContain("0123456789abcdef");
  expect(redact("-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----")).toBe("***");
  expect(redact("https://user:hunter2@example.dev/x")).toBe("https://user:***@example.dev/x");
  expect(redact("password: hunter2")).toBe("password: ***");
  expect(redact(`got ${JWT} back`)).toBe("got *** back");
  expect(tail("x".repeat(5000)).length).toBeLessThanOrEqual(2049);
});

test("of more output than is kept, no half secret is left where it was cut", async () => {
  const lines = "line of no interest\n".repeat(14_000);
  const printed = async (text: string): Promise<string> => {
    await writeFile(join(root, "text"), text);
    return redact((await runCommand(["cat", join(root, "text")], { clock: systemClock, timeoutMs: 60_000 })).output);
  };
  const kept = 256 * 1024;
  const after = lines.slice(-(kept - 60));
  const token = await printed(
    `${lines}token: abcdef.0123456789abcdef and more of that line, so that the cut is in it\n${after}`,
  );
  expect(token.length).toBeGreaterThan(kept - 200);
  expect(token).not.toContain("cut is in it");
  const body = `${"MIIEpAIBAAKCAQEA\n".repeat(8)}`;
  const key = await printed(
    `${lines}-----BEGIN RSA PRIVATE KEY-----\n${body}-----END RSA PRIVATE KEY-----\n${lines.slice(-(kept - 120))}`,
  );
  expect(key.length).toBeGreaterThan(kept - 200);
  expect(key).not.toContain("MIIEpAIBAAKCAQEA");
  expect(key).toMatch(/^\*\*\*\n/);
  expect(await printed("x".repeat(300_000)), "one line that is half there").toBe("");
  expect(await printed("MIIE\n-----END RSA PRIVATE KEY-----\n"), "nothing was cut").toContain("MIIE");
});

/** Records commands instead of running them. */
function noting(answer: Partial<CommandResult> = {}): { run: RunCommand; ran: string[]; inputs: string[] } {
  const ran: string[] = [];
  const inputs: string[] = [];
  const run: RunCommand = (command, options) => {
    ran.push(typeof command === "string" ? command : command.join(" "));
    if (options.input !== undefined) inputs.push(options.input);
    return Promise.resolve({ exitCode: 0, output: "", timedOut: false, ...answer });
  };
  return { run, ran, inputs };
}

test("everything runs in cloud-init's order, and is reverted afterwards", async () => {
  await mkdir(join(root, "etc"), { recursive: true });
  await mkdir(join(root, "usr/lib/systemd"), { recursive: true });
  await writeFile(join(root, "usr/lib/systemd/systemd-timesyncd"), "");
  await writeFile(join(root, "etc/fstab"), "/dev/sda1\t/\text4\tdefaults\t0\t1\n");
  await writeFile(join(root, "etc/motd"), "welcome\n", { mode: 0o640 });
  const { run: noted, ran, inputs } = noting();
  const report = await run(
    `#cloud-config
bootcmd: [echo boot]
write_files:
- {path: /etc/motd, content: changed}
- {path: /home/ann/late, content: x, defer: true}
- {path: /srv/new/deep, content: aGk=, encoding: b64}
mounts: [[sdb, /data, ext4, noatime]]
users:
- {name: ann, gecos: Ann, groups: "sudo, adm", shell: /bin/bash, passwd: $6$hash, lock_passwd: false, sudo: "ALL=(ALL) NOPASSWD:ALL", ssh_authorized_keys: [ssh-ed25519 AAAA ann]}
ntp: {enabled: true, servers: [ntp1.example, ntp2.example]}
runcmd: [echo run]
`,
    { run: noted },
  );
  expect(report).toMatchObject({ ok: true, message: "" });
  expect(report.steps.map(({ name }) => name)).toEqual([
    "echo boot",
    "write /etc/motd",
    "write /srv/new/deep",
    "mount /data",
    "create user ann",
    "password of ann",
    "sudo rules of ann",
    "SSH keys of ann",
    "time servers in /etc/systemd/timesyncd.conf.d/cloud-init.conf",
    "write /home/ann/late",
    "echo run",
  ]);
  expect(ran).toContain("useradd --create-home --comment Ann --shell /bin/bash --groups sudo,adm ann");
  // Hashes are passed on standard input, because arguments are visible to all users.
  expect(inputs).toContain("ann:$6$hash\n");
  expect(ran.join()).not.toContain("$6$hash");
  expect(await readFile(join(root, "etc/fstab"), "utf8")).toContain("/dev/sdb\t/data\text4\tnoatime\t0\t2\n");
  expect(await readFile(join(root, "etc/systemd/timesyncd.conf.d/cloud-init.conf"), "utf8")).toContain(
    "NTP=ntp1.example ntp2.example",
  );
  expect(await readFile(join(root, "srv/new/deep"), "utf8")).toBe("hi");

  const undone = noting();
  // Another process: everything is read from the disk.
  expect(
    await new Footprint(state, root).undo((command) => undone.run(command, { clock: systemClock, timeoutMs: 1 })),
  ).toEqual([]);
  expect(undone.ran).toEqual(["userdel --force --remove ann", "umount --lazy /data"]);
  expect(await readFile(join(root, "etc/fstab"), "utf8")).toBe("/dev/sda1\t/\text4\tdefaults\t0\t1\n");
  expect(await readFile(join(root, "etc/motd"), "utf8")).toBe("welcome\n");
  expect((await stat(join(root, "etc/motd"))).mode & 0o777).toBe(0o640);
  expect(await readdir(root)).toEqual(["etc", "usr"]);
  expect(await readdir(join(root, "etc"))).toEqual(["fstab", "motd"]);
  expect(await readdir(state)).toEqual([]);
});

test("a full disk is reported with what to do", async () => {
  await mkdir(join(root, "etc"));
  await symlink("/dev/full", join(root, "etc/kubeadm.yaml"));
  const report = await run(
    "#cloud-config\nwrite_files:\n- {path: /etc/kubeadm.yaml, content: x}\nruncmd: [echo never]\n",
  );
  expect(report.message).toMatch(/^write \/etc\/kubeadm.yaml failed: ENOSPC.*the disk is full: free some space/);
  expect(report.steps).toHaveLength(1);
});

test("jinja that requires unknown variables is refused before a node with a wrong name is born", async () => {
  const report = await run("## template: jinja\n#cloud-config\nruncmd:\n- kubeadm join {{ ds.meta_data.rack }}\n");
  expect(report.message).toContain("requires {{ rack }}, which this host does not have; it has local_hostname");
  expect(report.steps).toEqual([]);
});

test("jinja is rendered on a host without cloud-init, and only when the data says that it is a template", async () => {
  const line = "runcmd:\n- echo '{{ ds.meta_data.local_hostname | upper }}'\n";
  expect((await run(`## template: jinja\n#cloud-config\n${line}`)).steps[0]?.output).toBe("H1\n");
  expect((await run(`#cloud-config\n${line}`)).steps[0]?.output).toBe("{{ ds.meta_data.local_hostname | upper }}\n");
});

test.each([
  ["Ignition", '{"ignition":{"version":"2.3.0"}}', "is Ignition, but bring-your-own hosts support cloud-config only"],
  ["a script", "#!/bin/sh\necho hi", "its first line must be #cloud-config"],
  ["broken YAML", "#cloud-config\nruncmd: [", "is not YAML"],
  ["a file without a path", "#cloud-config\nwrite_files: [{content: x}]", "write_files[0] has no path"],
  [
    "content that is not what it says",
    "#cloud-config\nwrite_files: [{path: /a, encoding: gz+b64, content: AAAA}]",
    "cannot be unpacked",
  ],
  ["a time server that is no name", "#cloud-config\nntp: {servers: ['a; reboot']}", "is not a host name or an address"],
  ["a user with a strange name", '#cloud-config\nusers: [{name: "a;b"}]', 'users[0].name "a;b"'],
])("%s is an answer with the reason, not an exception", async (_, data, reason) => {
  const report = await run(data);
  expect(report.ok).toBe(false);
  expect(report.message).toContain(reason);
});

test("an interface name is required on a host without a default route", async () => {
  const data = "#cloud-config\nruncmd: ['echo {{ .DefaultNetworkInterfaceName }}']\n";
  expect((await run(data, { defaultInterface: "" })).message).toContain("this host has no default route");
});

test("a command that hangs is killed with all it started", async () => {
  const report = await run("#cloud-config\nruncmd: ['sleep 600 & sleep 600']\n", { commandTimeoutMs: 300 });
  expect(report.message).toContain("did not finish within");
});
