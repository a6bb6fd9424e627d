import { describe, expect, test } from "vitest";
import { UserDataError } from "../errors.ts";
import type { UserData } from "../types.ts";
import { renderIgnition } from "./ignition.ts";

const base: UserData = {
  files: [],
  kubeadm: { action: "join", controlPlane: false, joinConfiguration: "kind: JoinConfiguration\n" },
};

interface Config {
  storage: { files: { path: string; mode: number; contents: { source: string } }[]; disks?: object[] };
  systemd: { units: { name: string }[] };
}

function render(data: Partial<UserData>, additionalConfig?: string, strict = false): Config {
  return JSON.parse(renderIgnition({ ...base, ...data }, { additionalConfig, strict }));
}

describe("deviates from upstream where upstream is wrong", () => {
  test("layout false makes no partition, ntp off starts no ntpd, a file without mode is 0644, 640 is octal", () => {
    const config = render({
      diskSetup: { partitions: [{ device: "/dev/vdb", layout: false }] },
      ntp: { enabled: false, servers: ["a"] },
      files: [
        { path: "/a", content: "" },
        { path: "/b", content: "", permissions: "640" },
      ],
    });
    expect(config.storage.disks).toEqual([{ device: "/dev/vdb" }]);
    expect(config.systemd.units.map(({ name }) => name)).toEqual(["kubeadm.service"]);
    expect(config.storage.files.slice(0, 2).map(({ mode }) => mode)).toEqual([0o644, 0o640]);
  });

  test("preserves binary content", () => {
    const content = Buffer.from([0, 255, 10, 10]).toString("base64");
    const config = render({ files: [{ path: "/a", content, encoding: "base64" }] });
    expect(config.storage.files[0]?.contents.source).toBe("data:,%00%FF%0A%0A");
  });
});

test("partitions of an additional config are counted in MiB", () => {
  const config = render(
    {},
    "storage: {disks: [{device: /dev/sda, partitions: [{label: a, size: 2GiB, start: 512M, type_guid: swap_partition}]}]}",
  );
  expect(config.storage.disks).toEqual([
    {
      device: "/dev/sda",
      partitions: [{ label: "a", sizeMiB: 2048, startMiB: 512, typeGuid: "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f" }],
    },
  ]);
});

test.each([
  ["a: [", false, "not YAML"],
  ["- a", false, "must be a map"],
  ["docker: {}", false, "the section docker is not supported"],
  ["storage: {files: {}}", false, "storage.files must be a list"],
  ["storage: {disks: [{device: x, partitions: [{size: 1K}]}]}", false, "whole number of MiB"],
  ["storage: {files: [{path: /a, contents: {local: x}}]}", false, "contents.local cannot work"],
  ["nope: 1", true, "unknown field nope"],
  ["storage: {files: [{path: /a}]}", true, "mode unspecified for file, defaulting to 0644"],
])("additionalConfig %j (strict %s) is refused", (additional, strict, message) => {
  expect(() => render({}, additional, strict)).toThrow(UserDataError);
  expect(() => render({}, additional, strict)).toThrow(message);
});

test("without strict, unknown fields and missing modes pass", () => {
  expect(render({}, "nope: 1\nstorage: {files: [{path: /a}]}").storage.files.at(-1)).toMatchObject({
    path: "/a",
    mode: 0o644,
    contents: { source: "data:," },
  });
});
