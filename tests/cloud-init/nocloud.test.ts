import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type NoCloudData, noCloud } from "@capstan/media";
import { readIso } from "@capstan/media/testing";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../real-kubernetes/index.ts";
import { ensureCloudInit } from "./cloud-init-program.mjs";

let program: ReturnType<typeof ensureCloudInit>;
let folder: string;
beforeAll(() => {
  program = ensureCloudInit();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-nocloud-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What real cloud-init makes of the files of a seed, and the label by which it finds the image. */
async function readByCloudInit(data: NoCloudData): Promise<object> {
  const image = noCloud(data, Date.UTC(2026, 0, 2));
  await mkdir(join(folder, "seed"));
  for (const [name, content] of readIso(image, false)) await writeFile(join(folder, "seed", name), content, "latin1");
  await writeFile(join(folder, "seed.iso"), image);
  const probe = ["-p", "-o", "value", "-s", "LABEL", "-s", "TYPE", join(folder, "seed.iso")];
  const label = await runCommand("blkid", probe, { env: { LC_ALL: "C" } });
  const script = fileURLToPath(new URL("read-nocloud.py", import.meta.url));
  const { code, stdout, stderr } = await runCommand(program.python, ["-B", script, folder], {
    env: { LC_ALL: "C.UTF-8", PYTHONPATH: program.modules },
  });
  if (code !== 0) throw new Error(stderr);
  return { label: label.stdout.trim().split("\n").sort(), ...(JSON.parse(stdout) as object) };
}

const metaData = { "instance-id": "i-1", "local-hostname": "node-1" };
// `dsmode` is a default of cloud-init.
const found = {
  label: ["cidata", "iso9660"],
  found: true,
  instanceId: "i-1",
  metadata: { ...metaData, dsmode: "net" },
};

describe("real cloud-init reads a NoCloud seed", () => {
  test("with user data, vendor data and version 2 of the network configuration", async () => {
    const networkConfig = {
      version: 2,
      ethernets: { eth0: { addresses: ["192.0.2.10/24"], gateway4: "192.0.2.1" }, eth1: { dhcp4: true } },
    } as const;
    const data = { metaData, userData: "#cloud-config\na: ä\n", vendorData: "#cloud-config\nb: 1\n", networkConfig };
    expect(await readByCloudInit(data)).toEqual({
      ...found,
      userData: "#cloud-config\na: ä\n",
      vendorData: "#cloud-config\nb: 1\n",
      interfaces: { eth0: ["static 192.0.2.10/24"], eth1: ["dhcp4"] },
    });
  });

  test("with version 1 of the network configuration", async () => {
    const subnets = [{ type: "static", address: "192.0.2.10/24" }];
    const networkConfig = { version: 1, config: [{ type: "physical", name: "eth0", subnets }] } as const;
    expect(await readByCloudInit({ metaData, userData: "#cloud-config\n", networkConfig })).toMatchObject({
      ...found,
      interfaces: { eth0: ["static 192.0.2.10/24"] },
    });
  });

  test("without user data and network configuration", async () => {
    expect(await readByCloudInit({ metaData, userData: undefined })).toMatchObject({
      ...found,
      userData: "",
      interfaces: null,
    });
  });
});
