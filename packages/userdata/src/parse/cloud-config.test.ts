import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { UserDataError } from "../errors.ts";
import { parseCloudConfig } from "./cloud-config.ts";

const packed = gzipSync("hello").toString("base64");

describe("write_files", () => {
  test.each([
    ["text/plain", "hello"],
    ["b64", "aGVsbG8="],
    ["base64", "aGVs\n      bG8="],
    ["gz+b64", packed],
    ["gz+base64", packed],
    ["gzip+b64", packed],
    ["gzip+base64", packed],
  ])("encoding %s", (encoding, content) => {
    const text = `#cloud-config\nwrite_files:\n- path: /a\n  encoding: ${encoding}\n  content: |\n      ${content}`;
    expect(parseCloudConfig(text).writeFiles[0]?.content.toString().trim()).toBe("hello");
  });

  test("defaults, octal numbers and order", () => {
    const text =
      "#cloud-config\nwrite_files:\n- {path: /a, content: x}\n- {path: /b, permissions: 0640, owner: a:b, append: true}\n";
    expect(parseCloudConfig(text).writeFiles).toEqual([
      { path: "/a", content: Buffer.from("x"), owner: "root:root", permissions: "0644", append: false, defer: false },
      { path: "/b", content: Buffer.from(""), owner: "a:b", permissions: "0640", append: true, defer: false },
    ]);
  });
});

test("commands are lines or lists of arguments; unknown keys are kept apart", () => {
  const text =
    "#cloud-config\nruncmd:\n- echo a\n- [echo, 1]\nbootcmd: [x]\nusers: [default, {name: u}]\npackages: [p]\n";
  expect(parseCloudConfig(text)).toMatchObject({
    runCommands: ["echo a", ["echo", "1"]],
    bootCommands: ["x"],
    users: [{ name: "default" }, { name: "u" }],
    other: { packages: ["p"] },
  });
});

test("jinja is rendered only where the header says so", () => {
  const body = "#cloud-config\nruncmd: ['echo {{ ds.meta_data.local_hostname }}']\n";
  const metadata = { local_hostname: "node-1" };
  expect(parseCloudConfig(`## template: jinja\n${body}`, { metadata }).runCommands).toEqual(["echo node-1"]);
  expect(parseCloudConfig(body, { metadata }).runCommands).toEqual(["echo {{ ds.meta_data.local_hostname }}"]);
});

test.each([
  ["", "not a cloud-config"],
  ["#!/bin/sh\n", "not a cloud-config"],
  ["#cloud-config\na: [", "not YAML"],
  ["#cloud-config\n- a\n", "must be a map"],
  ["#cloud-config\nwrite_files: {}\n", "write_files must be a list"],
  ["#cloud-config\nwrite_files: [{content: x}]\n", "write_files[0] has no path"],
  ["#cloud-config\nwrite_files: [{path: /a, encoding: b64, content: '*'}]\n", "file /a: its content is not base64"],
  [
    "#cloud-config\nwrite_files: [{path: /a, encoding: gz+b64, content: aGVsbG8=}]\n",
    "file /a: its content cannot be unpacked",
  ],
  ["#cloud-config\nruncmd: [{a: b}]\n", "runcmd[0] must be a text"],
])("%j is refused: %s", (text, message) => {
  expect(() => parseCloudConfig(text)).toThrow(UserDataError);
  expect(() => parseCloudConfig(text)).toThrow(message);
});

test("messages never show contents", () => {
  const text = "#cloud-config\nwrite_files:\n- path: /a\n  content: top-secret\n bad\n";
  expect(() => parseCloudConfig(text)).toThrow(/^(?!.*top-secret)/s);
});
