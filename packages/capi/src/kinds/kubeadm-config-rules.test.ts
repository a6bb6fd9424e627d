import { describe, expect, test } from "vitest";
import { controlPlaneTimeoutProblems, kubeadmConfigProblems } from "./kubeadm-config-rules.ts";
import type { KubeadmConfigSpec } from "./kubeadm-config-spec.ts";

const secret = { name: "s", key: "k" };
const WITH_IGNITION = 'not supported when spec.format is set to: "ignition"';

function problems(spec: KubeadmConfigSpec): string[] {
  return kubeadmConfigProblems(spec, "spec").map(({ type, field, detail }) => `${type} ${field}: ${detail}`);
}

describe("refused as upstream's webhook refuses it", () => {
  test.each<[string, KubeadmConfigSpec, string[]]>([
    ["nothing", {}, []],
    [
      "a file with two contents",
      { files: [{ path: "/a", content: "x", contentFrom: { secret } }] },
      ["FieldValueInvalid spec.files[0]: only one of content or contentFrom may be specified for a single file"],
    ],
    [
      "two files of one path",
      { files: [{ path: "/a" }, { path: "/b" }, { path: "/a" }] },
      ["FieldValueInvalid spec.files[2].path: path property must be unique among all files"],
    ],
    [
      "a user with two passwords",
      { users: [{ name: "u", passwd: "x", passwdFrom: { secret } }] },
      ["FieldValueInvalid spec.users[0]: only one of passwd or passwdFrom may be specified for a single user"],
    ],
    [
      "ignition settings without ignition",
      { ignition: { containerLinuxConfig: { strict: true } } },
      ['FieldValueInvalid spec.format: must be set to "ignition" if spec.ignition is set'],
    ],
    [
      "what Ignition has not",
      {
        format: "ignition",
        users: [{ name: "u", inactive: true }],
        files: [{ path: "/a", encoding: "gzip" }],
        bootCommands: ["x"],
        diskSetup: {
          partitions: [{ device: "d", tableType: "mbr", layout: true }],
          filesystems: [{ device: "d", filesystem: "f", replaceFS: "x", partition: "1" }],
        },
      },
      [
        `FieldValueForbidden spec.users[0].inactive: ${WITH_IGNITION}`,
        `FieldValueForbidden spec.files[0].encoding: ${WITH_IGNITION}`,
        `FieldValueForbidden spec.bootCommands: ${WITH_IGNITION}`,
        'FieldValueInvalid spec.diskSetup.partitions[0].tableType: only partition type "gpt" is supported when spec.format is set to "ignition"',
        `FieldValueForbidden spec.diskSetup.filesystems[0].replaceFS: ${WITH_IGNITION}`,
        `FieldValueForbidden spec.diskSetup.filesystems[0].partition: ${WITH_IGNITION}`,
      ],
    ],
    [
      "more than a whole disk",
      { diskSetup: { partitions: [{ device: "d", diskLayout: [{ percentage: 60 }, { percentage: 41 }] }] } },
      [
        "FieldValueInvalid spec.diskSetup.partitions[0].diskLayout: the sum of all partition percentages must not be greater than 100",
      ],
    ],
    [
      "two ways to authenticate",
      {
        joinConfiguration: {
          discovery: {
            file: {
              kubeConfigPath: "/x",
              kubeConfig: { user: { authProvider: { name: "a" }, exec: { command: "b" } } },
            },
          },
        },
      },
      [
        "FieldValueInvalid spec.joinConfiguration.discovery.file.kubeconfig.user: only one of authProvider or exec must be defined",
      ],
    ],
  ])("%s", (_, spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });
});

test("no problem shows the hash of a password", () => {
  const found = kubeadmConfigProblems({ users: [{ name: "u", passwd: "hash", passwdFrom: { secret } }] }, "spec");
  expect(JSON.stringify(found)).not.toContain("hash");
});

test("a control plane's two timeouts must agree", () => {
  const timeouts = { controlPlaneComponentHealthCheckSeconds: 5 };
  expect(
    controlPlaneTimeoutProblems({ initConfiguration: { timeouts }, joinConfiguration: { timeouts } }, "s"),
  ).toEqual([]);
  expect(
    controlPlaneTimeoutProblems({ initConfiguration: { timeouts } }, "s").map(({ field, value }) => [field, value]),
  ).toEqual([
    ["s.initConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds", "5"],
    ["s.joinConfiguration.timeouts.controlPlaneComponentHealthCheckSeconds", "unset"],
  ]);
});
