import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { compileScript } from "./compile.ts";
import { PRELUDE } from "./prelude.ts";

const OPTIONS = { hostname: "node-1", instanceData: { instance_id: "i-1", provider_id: "kubernetes://ns/node-1" } };

function compile(format: "cloud-config" | "ignition", content: string | object): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const result = compileScript({ format, content: text }, OPTIONS);
  if ("problems" in result) throw new Error(result.problems.join("; "));
  return result.script.slice(PRELUDE.length + 1);
}

function problems(format: "cloud-config" | "ignition", content: string | object): string[] {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const result = compileScript({ format, content: text }, OPTIONS);
  return "problems" in result ? result.problems : [];
}

test("compiles a cloud-config in the order of cloud-init's modules", () => {
  const text = `## template: jinja
#cloud-config
runcmd:
- kubeadm join --config /run/join.yaml
- [sh, -c, "echo it's {{ ds.meta_data.local_hostname }}"]
write_files:
- {path: /run/join.yaml, owner: "root:root", permissions: '0640', content: "name: {{ ds.meta_data.provider_id }}\\n"}
- {path: /etc/more, append: true, content: more, owner: "adm:-1"}
- {path: /home/ann/late, content: x, defer: true, owner: ann}
bootcmd: [echo boot]
groups: [staff2, {admins: [root]}]
ntp: {servers: [a.example.com]}
ssh_authorized_keys: [ssh-ed25519 AAAA root]
users:
- {name: ann, gecos: Ann, groups: "adm, new", passwd: $6$hash, sudo: "ALL=(ALL) ALL", ssh_authorized_keys: [ssh-ed25519 BBBB ann]}
`;
  expect(compile("cloud-config", text)).toMatchInlineSnapshot(`
    "INSTANCE_ID=i-1 capstan_commands bootcmd << 'CAPSTAN_END'
    capstan_step 'echo boot'
    echo boot

    capstan_check $?
    CAPSTAN_END
    capstan_step 'write /run/join.yaml'
    capstan_write /run/join.yaml 0640 root:root << 'CAPSTAN_END'
    bmFtZToga3ViZXJuZXRlczovL25zL25vZGUtMQo=
    CAPSTAN_END
    capstan_step 'write /etc/more'
    capstan_append /etc/more 0644 adm << 'CAPSTAN_END'
    bW9yZQ==
    CAPSTAN_END
    capstan_step 'group staff2'
    capstan_group staff2
    capstan_step 'group admins'
    capstan_group admins
    if getent passwd root > /dev/null; then usermod -a -G admins root; fi
    capstan_step 'user ann'
    capstan_group adm
    capstan_group new
    if ! getent passwd ann > /dev/null; then
    useradd --create-home --comment Ann --groups adm,new ann
    chpasswd -e << 'CAPSTAN_END'
    ann:$6$hash
    CAPSTAN_END
    fi
    passwd -l ann > /dev/null
    capstan_sudo << 'CAPSTAN_END'
    ann ALL=(ALL) ALL
    CAPSTAN_END
    capstan_keys ann << 'CAPSTAN_END'
    ssh-ed25519 BBBB ann
    CAPSTAN_END
    capstan_step 'SSH keys of root'
    capstan_keys root << 'CAPSTAN_END'
    ssh-ed25519 AAAA root
    CAPSTAN_END
    capstan_step 'time servers'
    if [ -e /usr/sbin/chronyd ] || [ -e /usr/bin/chronyd ]; then
    capstan_folder /etc/chrony/chrony.conf
    cat >> /etc/chrony/chrony.conf << 'CAPSTAN_END'
    server a.example.com iburst
    CAPSTAN_END
    if [ -d /run/systemd/system ]; then systemctl try-restart chrony || systemctl try-restart chronyd; fi
    elif [ -e /usr/lib/systemd/systemd-timesyncd ] || [ -e /lib/systemd/systemd-timesyncd ]; then
    capstan_folder /etc/systemd/timesyncd.conf.d/cloud-init.conf
    cat > /etc/systemd/timesyncd.conf.d/cloud-init.conf << 'CAPSTAN_END'
    [Time]
    NTP=a.example.com
    CAPSTAN_END
    if [ -d /run/systemd/system ]; then systemctl try-restart systemd-timesyncd; fi
    else
    echo 'no time service is installed: the clock is the one of the host'
    fi
    capstan_step 'write /home/ann/late'
    capstan_write /home/ann/late 0644 ann << 'CAPSTAN_END'
    eA==
    CAPSTAN_END
    capstan_commands runcmd << 'CAPSTAN_END'
    capstan_step 'kubeadm join --config /run/join.yaml'
    kubeadm join --config /run/join.yaml

    capstan_check $?
    capstan_step 'sh -c echo it'\\''s node-1'
    sh -c 'echo it'\\''s node-1'

    capstan_check $?
    CAPSTAN_END

    capstan_done=true
    "
  `);
});

test("compiles an Ignition config of version 2, units started in its order", () => {
  expect(
    compile("ignition", {
      ignition: { version: "2.3.0", config: {}, security: { tls: {} }, timeouts: {} },
      networkd: {},
      passwd: {
        groups: [{ name: "g", gid: 700 }],
        users: [{ name: "core", groups: ["sudo"], passwordHash: "$6$x", sshAuthorizedKeys: ["ssh-rsa AAAA"] }],
      },
      storage: {
        directories: [{ filesystem: "root", path: "/opt/x", mode: 0o700 }],
        files: [
          { filesystem: "root", path: "/etc/a b", mode: 0o600, contents: { source: "data:,it%27s", verification: {} } },
        ],
        links: [{ filesystem: "root", path: "/etc/l", target: "/etc/a b" }],
      },
      systemd: {
        units: [
          {
            name: "kubeadm.service",
            enabled: true,
            contents: "[Service]\n",
            dropins: [{ name: "1.conf", contents: "#\n" }],
          },
          { name: "other.service", mask: true },
        ],
      },
    }),
  ).toMatchInlineSnapshot(`
    "capstan_step 'group g'
    capstan_group g --gid 700
    capstan_step 'user core'
    if getent passwd core > /dev/null; then
    usermod --groups sudo core
    else
    useradd --create-home --groups sudo core
    fi
    chpasswd -e << 'CAPSTAN_END'
    core:$6$x
    CAPSTAN_END
    capstan_keys core << 'CAPSTAN_END'
    ssh-rsa AAAA
    CAPSTAN_END
    capstan_step 'folder /opt/x'
    mkdir -p -- /opt/x
    capstan_own /opt/x 0700 root:root
    capstan_step 'write /etc/a b'
    capstan_write '/etc/a b' 0600 root:root << 'CAPSTAN_END'
    aXQncw==
    CAPSTAN_END
    capstan_step 'link /etc/l'
    capstan_folder /etc/l
    if [ "$(readlink -- /etc/l)" != '/etc/a b' ]; then ln -s -- '/etc/a b' /etc/l; fi
    chown -h -- root:root /etc/l
    capstan_step 'write /etc/systemd/system/kubeadm.service'
    capstan_write /etc/systemd/system/kubeadm.service 0644 root:root << 'CAPSTAN_END'
    W1NlcnZpY2VdCg==
    CAPSTAN_END
    capstan_step 'write /etc/systemd/system/kubeadm.service.d/1.conf'
    capstan_write /etc/systemd/system/kubeadm.service.d/1.conf 0644 root:root << 'CAPSTAN_END'
    Iwo=
    CAPSTAN_END
    capstan_step 'mask other.service'
    ln -sfn /dev/null /etc/systemd/system/other.service
    capstan_step 'systemd units'
    if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
    capstan_step 'enable kubeadm.service'
    systemctl enable kubeadm.service
    capstan_step 'start kubeadm.service'
    capstan_start kubeadm.service

    capstan_done=true
    "
  `);
});

test("compiles what only version 3 of Ignition has: owners by id, appended parts, no overwriting", () => {
  const packed = gzipSync("hello");
  const source = `data:;base64,${packed.toString("base64")}`;
  const hash = `sha256-${createHash("sha256").update(packed).digest("hex")}`;
  const script = compile("ignition", {
    ignition: { version: "3.4.0" },
    storage: {
      files: [
        {
          path: "/a",
          contents: { source, compression: "gzip", verification: { hash } },
          user: { id: 7 },
          group: { name: "g" },
        },
        { path: "/b", append: [{ source: "data:,1" }, { source: "data:,2" }] },
      ],
    },
  });
  expect(script).toContain("if [ -e /a ]; then echo '/a exists'; exit 1; fi");
  expect(script).toContain(`capstan_write /a 0644 7:g << 'CAPSTAN_END'\n${Buffer.from("hello").toString("base64")}\n`);
  expect(script.match(/capstan_append \/b/g)).toHaveLength(2);
  expect(script).not.toContain("[ -e /b ]");
});

describe("what cannot be done is refused by name", () => {
  test.each([
    ["disk_setup: {/dev/sdb: {layout: true}}", "disk_setup is not supported: the machine has no disks"],
    ["fs_setup: [{device: /dev/sdb, filesystem: ext4}]", "fs_setup is not supported: the machine has no disks"],
    ["mounts: [[sdb, /data]]", "mounts is not supported: the machine has no disks"],
    ["packages: [vim]", "packages is not supported"],
    ["users: [default]", 'users[0].name "default" is not supported'],
    ["users: [{name: a, snapuser: b}]", "users[0].snapuser is not supported"],
    ['users: [{name: a, passwd: "x\\ny"}]', "users: a password hash has a line end or a colon"],
    ["groups: ['a b']", 'groups: "a b" is not a name'],
    ["hostname: other", "hostname is not supported: the machine is called node-1"],
    ["ntp: {servers: ['a b']}", 'ntp.servers: "a b" is not a host name or an address'],
    ["write_files: [{path: /x, source: {uri: u}}]", "write_files[0].source is not supported"],
    ['runcmd: ["echo \\0"]', "a NUL character is in a command or a name"],
    ["runcmd: [{a: b}]", "runcmd[0] must be a text or a list of texts"],
  ])("%s", (yaml, message) => {
    expect(problems("cloud-config", `#cloud-config\n${yaml}\n`)).toEqual([message]);
  });

  test("a variable that the machine does not have", () => {
    const text = "## template: jinja\n#cloud-config\nruncmd: ['echo {{ ds.meta_data.region }}']\n";
    expect(problems("cloud-config", text)).toEqual([
      "{{ region }} is not defined: ds.meta_data has hostname, instance_id, local-hostname, local_hostname, provider_id",
    ]);
  });

  test("everything at once", () => {
    const text = "#cloud-config\npackages: [a]\nmounts: [[a, b]]\nusers: [{name: a, doas: b}]\n";
    expect(problems("cloud-config", text)).toHaveLength(3);
  });

  const ignition = (more: object): object => ({ ignition: { version: "3.4.0" }, ...more });
  test.each([
    ["text", "this is not an Ignition config: it is not JSON"],
    ["[]", "this is not an Ignition config: it must be an object"],
    [{ ignition: { version: "1.0.0" } }, 'ignition.version "1.0.0" is not supported: it must be 2 or 3'],
    [{ ignition: { version: "3.0.0", config: { merge: [{ source: "data:," }] } } }, "ignition.config is not supported"],
    [ignition({ storage: { disks: [{ device: "/dev/sda" }] } }), "storage.disks is not supported"],
    [ignition({ storage: { luks: [{ name: "x" }] } }), "storage.luks is not supported"],
    [
      ignition({ storage: { files: [{ filesystem: "data", path: "/a" }] } }),
      'storage.files[0].filesystem "data" is not supported',
    ],
    [
      ignition({ storage: { files: [{ path: "/a", contents: { source: "https://example.com/a" } }] } }),
      "storage.files[0].contents.source (no data URL) is not supported",
    ],
    [
      ignition({
        storage: { files: [{ path: "/a", contents: { source: "data:,a", verification: { hash: "sha256-0" } } }] },
      }),
      "storage.files[0].contents: the content does not have the hash in verification.hash",
    ],
    [ignition({ storage: { files: [{ path: "a" }] } }), '"a" is not an absolute path'],
    [
      ignition({ passwd: { users: [{ name: "a", shouldExist: true }] } }),
      "passwd.users[0].shouldExist is not supported",
    ],
    [ignition({ passwd: { users: [{ name: "-x" }] } }), 'passwd: "-x" is not a name'],
    [ignition({ systemd: { units: [{ name: "../x" }] } }), 'systemd.units: "../x" is not the name of a unit'],
    [ignition({ kernelArguments: { shouldExist: ["a"] } }), "kernelArguments is not supported"],
    [ignition({ networkd: { units: [{ name: "a.network" }] } }), "networkd is not supported"],
  ])("%j", (config, message) => {
    expect(problems("ignition", config)).toEqual([message]);
  });
});

test("secrets are only ever on standard input, never arguments or titles", () => {
  const users = [{ name: "a", passwd: "$6$secret", hashed_passwd: "$6$secret", ssh_authorized_keys: ["secret key"] }];
  const files = [{ path: "/a", content: "secret" }];
  const text = `#cloud-config\n${JSON.stringify({ users, write_files: files })}`;
  const script = compile("cloud-config", text);
  const withoutInput = script.replaceAll(/<< '(CAPSTAN_END\w*)'\n[^]*?\n\1\n/g, "");
  expect(withoutInput).not.toContain("secret");
  expect(withoutInput).toContain("capstan_write /a");
});

test("an input that contains the end mark gets another one", () => {
  const script = compile("cloud-config", '#cloud-config\nruncmd: ["cat << CAPSTAN_END\\nx\\nCAPSTAN_END"]\n');
  expect(script).toContain("capstan_commands runcmd << 'CAPSTAN_END_1'");
});

test("large contents are compressed, unless that does not help", () => {
  const file = (content: string): string =>
    compile(
      "cloud-config",
      `#cloud-config\n${JSON.stringify({ write_files: [{ path: "/a", content, encoding: "b64" }] })}`,
    );
  expect(file(Buffer.alloc(100_000, "a").toString("base64")).length).toBeLessThan(2000);
  const noise = Buffer.concat(
    Array.from({ length: 100 }, (_, n) => createHash("sha512").update(String(n)).digest()),
  ).toString("base64");
  expect(file(noise)).toContain("capstan_write /a");
});
