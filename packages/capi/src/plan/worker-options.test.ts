import { PROVIDERS } from "@capstan/manager/providers";
import { expect, it } from "vitest";
import { clusterTemplates } from "./cluster-template.ts";
import { planWarnings } from "./worker-options.ts";

const warnings = (groups: Parameters<typeof planWarnings>[0]): string[] => planWarnings(groups, PROVIDERS);

it("warns of disk images, which are not written, and of nothing else", () => {
  const metal = { name: "rack", provider: "metal3" } as const;
  expect(warnings([{ ...metal, settings: { image: "http://i/n.iso", format: "live-iso" } }])).toEqual([]);
  expect(warnings([{ name: "own", provider: "byoh", settings: { format: "raw" } }])).toEqual([]);
  expect(warnings([{ ...metal, settings: { image: "http://i/n", format: "qcow2" } }])).toEqual([
    "rack: a qcow2 image is for a disk, and Capstan does not write disks yet: its BareMetalHosts fail with an error unless another operator manages them; use a live image and format=live-iso",
  ]);
});

it("has templates with live images only", () => {
  const metal = [...clusterTemplates(PROVIDERS)].filter(([, text]) => text.includes("kind: Metal3MachineTemplate"));
  expect(metal.map(([file]) => file)).toEqual(["cluster-template-bare-metal.yaml", "cluster-template-mixed.yaml"]);
  for (const [, text] of metal) {
    expect(text).toContain("diskFormat: live-iso");
    expect(text).not.toContain("checksum");
  }
});
