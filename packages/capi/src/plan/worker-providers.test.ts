import { expect, it } from "vitest";
import { clusterTemplates } from "./cluster-template.ts";
import { diskImages } from "./worker-providers.ts";

it("warns of images for disks, which nobody writes, and of nothing else", () => {
  const metal = { name: "rack", provider: "metal3" } as const;
  expect(diskImages([{ ...metal, settings: { image: "http://i/n.iso", format: "live-iso" } }])).toEqual([]);
  expect(diskImages([{ name: "own", provider: "byoh", settings: { format: "raw" } }])).toEqual([]);
  expect(diskImages([{ ...metal, settings: { image: "http://i/n", format: "qcow2" } }])).toEqual([
    "rack: a qcow2 image is for a disk, and Capstan does not write disks yet: its BareMetalHosts end in an error unless another operator has them; use a live image and format=live-iso",
  ]);
});

it("has templates with live images only", () => {
  const metal = [...clusterTemplates()].filter(([, text]) => text.includes("kind: Metal3MachineTemplate"));
  expect(metal.map(([file]) => file)).toEqual(["cluster-template-bare-metal.yaml", "cluster-template-mixed.yaml"]);
  for (const [, text] of metal) {
    expect(text).toContain("diskFormat: live-iso");
    expect(text).not.toContain("checksum");
  }
});
