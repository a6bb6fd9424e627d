import { describe, expect, test } from "vitest";
import { noCloud } from "./nocloud.ts";
import { readIso } from "./testing/iso-reader.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const metaData = { "instance-id": "i-1", "local-hostname": "node-1" };
const META = '{"instance-id":"i-1","local-hostname":"node-1"}';

describe("a NoCloud seed", () => {
  test("has the label and the files that cloud-init looks for", () => {
    const networkConfig = { version: 2, ethernets: { eth0: { dhcp4: true } } } as const;
    const image = noCloud(
      { metaData, userData: "#cloud-config\n", vendorData: "#cloud-config\n{}", networkConfig },
      NOW,
    );
    const label = Buffer.from(image).toString("latin1", 16 * 2048 + 40, 16 * 2048 + 72);
    expect(label.trimEnd()).toBe("cidata");
    const files = new Map([
      ["meta-data", META],
      ["network-config", '{"version":2,"ethernets":{"eth0":{"dhcp4":true}}}'],
      ["user-data", "#cloud-config\n"],
      ["vendor-data", "#cloud-config\n{}"],
    ]);
    expect(readIso(image, false)).toEqual(files);
    expect(readIso(image, true)).toEqual(files);
  });

  test("always has user-data, and nothing else that is not given", () => {
    const files = readIso(noCloud({ metaData, userData: undefined }, NOW), false);
    expect(files).toEqual(
      new Map([
        ["meta-data", META],
        ["user-data", ""],
      ]),
    );
  });
});
