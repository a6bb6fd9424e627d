import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCloudConfig } from "../parse/cloud-config.ts";
import type { UserData, UserDataFile, UserDataUser } from "../types.ts";
import { renderCloudConfig } from "./cloud-config.ts";

/** Any text but what a jinja template would change. */
const text = fc.string({ unit: "binary", maxLength: 40 }).filter((value) => !/\{[{%#]/.test(value));
const line = text.filter(
  (value) => value !== "" && !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(value) && value.trim() === value,
);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const file: fc.Arbitrary<UserDataFile> = fc.record({
  path: line,
  content: text,
  owner: optional(line),
  permissions: optional(fc.constantFrom("0644", "0600", "0755")),
  append: optional(fc.boolean()),
});
const user: fc.Arbitrary<UserDataUser> = fc.record({
  name: line,
  passwd: optional(line),
  gecos: optional(line),
  groups: optional(line),
  homeDir: optional(line),
  inactive: optional(fc.boolean()),
  lockPassword: optional(fc.boolean()),
  shell: optional(line),
  primaryGroup: optional(line),
  sudo: optional(line),
  sshAuthorizedKeys: optional(fc.array(line, { minLength: 1, maxLength: 3 })),
});
const commands = optional(
  fc.array(
    text.filter((value) => !/\p{Cs}/u.test(value)),
    { minLength: 1, maxLength: 3 },
  ),
);
const data: fc.Arbitrary<UserData> = fc.record({
  files: fc.array(file, { maxLength: 4 }),
  bootCommands: commands,
  preKubeadmCommands: commands,
  postKubeadmCommands: commands,
  users: optional(fc.array(user, { minLength: 1, maxLength: 3 })),
  ntp: optional(
    fc.record({ enabled: optional(fc.boolean()), servers: fc.array(line, { minLength: 1, maxLength: 2 }) }),
  ),
  mounts: optional(fc.array(fc.array(line, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 2 })),
  kubeadm: fc.constant({
    action: "join" as const,
    controlPlane: false,
    joinConfiguration: "kind: JoinConfiguration\n",
  }),
});

/** A block of YAML ends with exactly one line end; base64 keeps what there was. */
function expectedContent(content: string): string[] {
  const body = content.replace(/\n+$/, "");
  return [content, body === "" ? "" : `${body}\n`];
}

/** What a reader must find for a user. */
function expectedUser(given: UserDataUser): Record<string, unknown> {
  const fields = {
    name: given.name,
    passwd: given.passwd,
    gecos: given.gecos,
    groups: given.groups,
    homedir: given.homeDir,
    inactive: given.inactive,
    lock_passwd: given.lockPassword,
    shell: given.shell,
    primary_group: given.primaryGroup,
    sudo: given.sudo,
    ssh_authorized_keys: given.sshAuthorizedKeys,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

describe("parses what it renders", () => {
  test("for any user data", () => {
    fc.assert(
      fc.property(data, (given) => {
        const read = parseCloudConfig(renderCloudConfig(given));
        given.files.forEach((wanted, index) => {
          const found = read.writeFiles[index];
          expect(found?.path).toBe(wanted.path);
          expect(expectedContent(wanted.content)).toContain(found?.content.toString());
          expect(found?.owner).toBe(wanted.owner ?? "root:root");
          expect(found?.permissions).toBe(wanted.permissions ?? "0644");
          expect(found?.append).toBe(wanted.append ?? false);
        });
        expect(read.writeFiles).toHaveLength(given.files.length + 2);
        expect(read.bootCommands).toEqual(given.bootCommands ?? []);
        const [kubeadm] = read.runCommands.splice(given.preKubeadmCommands?.length ?? 0, 1);
        expect(kubeadm).toMatch(/^kubeadm join /);
        expect(read.runCommands).toEqual([...(given.preKubeadmCommands ?? []), ...(given.postKubeadmCommands ?? [])]);
        expect(read.users).toEqual((given.users ?? []).map(expectedUser));
        expect(read.ntp?.servers ?? []).toEqual(given.ntp?.servers ?? []);
        expect(read.mounts).toEqual(given.mounts ?? []);
        expect(read.other).toEqual({});
      }),
      { numRuns: 300 },
    );
  });

  test("quotes a value with a line break that only some parsers recognize", () => {
    for (const end of ["\x85", "\u2028", "\u2029"]) {
      const path = `/etc/a${end}runcmd: [id]`;
      const kubeadm = { action: "join" as const, controlPlane: false, joinConfiguration: "" };
      const written = renderCloudConfig({ files: [{ path, content: "" }], kubeadm });
      expect(written).not.toContain(end);
      expect(parseCloudConfig(written).writeFiles[0]?.path).toBe(path);
    }
  });

  test("also content that YAML cannot hold, and content that begins with spaces", () => {
    const contents = [
      "a\0b",
      "a\r\nb",
      "\u2028",
      "  indented\nnot\n",
      "\n\n x",
      "\ttab\n",
      "# comment\n",
      "---\na: b\n",
    ];
    const files = contents.map((content, index) => ({ path: `/f${index}`, content }));
    const kubeadm = { action: "init" as const, clusterConfiguration: "a: b\n", initConfiguration: "c: d\n" };
    const read = parseCloudConfig(renderCloudConfig({ files, kubeadm }));
    expect(read.writeFiles.slice(0, files.length).map(({ content }) => content.toString())).toEqual(
      contents.map((content) => (content === "\n\n x" ? "\n\n x\n" : content)),
    );
    expect(read.writeFiles.at(-2)?.content.toString()).toBe("---\na: b\n\n---\nc: d\n");
  });
});
