#!/usr/bin/env node
/** Records the first bytes of images as qemu-img writes them: `node packages/vm/testdata/record-images.mjs`. Needs qemu-img. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The path is part of what is recorded. */
const folder = "/tmp/capstan-vm-images";
const base = join(folder, "base.img");
const secret = ["--object", "secret,id=s,data=not-a-secret"];

/** @type {Record<string, string[]>} */
const IMAGES = {
  plain: ["-f", "qcow2"],
  version2: ["-f", "qcow2", "-o", "compat=0.10"],
  extendedL2: ["-f", "qcow2", "-o", "extended_l2=on"],
  zstd: ["-f", "qcow2", "-o", "compression_type=zstd"],
  overlay: ["-f", "qcow2", "-F", "raw", "-b", base],
  dataFile: ["-f", "qcow2", "-o", `data_file=${join(folder, "data.img")}`],
  encrypted: [...secret, "-f", "qcow2", "-o", "encrypt.format=luks,encrypt.key-secret=s,encrypt.iter-time=300"],
  luks: [...secret, "-f", "luks", "-o", "key-secret=s,iter-time=300"],
  vmdk: ["-f", "vmdk"],
  vdi: ["-f", "vdi"],
  vhdx: ["-f", "vhdx"],
  raw: ["-f", "raw"],
};

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
execFileSync("qemu-img", ["create", "-q", "-f", "raw", base, "1M"]);
const recorded = Object.entries(IMAGES).map(([name, args]) => {
  const file = join(folder, name);
  execFileSync("qemu-img", ["create", "-q", ...args, file, "1M"]);
  return [name, readFileSync(file).subarray(0, 1024).toString("base64")];
});
rmSync(folder, { recursive: true });
const output = fileURLToPath(new URL("images.json", import.meta.url));
writeFileSync(output, `${JSON.stringify(Object.fromEntries(recorded), null, 2)}\n`);
