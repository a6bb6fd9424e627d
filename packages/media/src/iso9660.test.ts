import fc from "fast-check";
import { expect, test } from "vitest";
import { configDrive } from "./config-drive.ts";
import { buildIso } from "./iso9660.ts";
import { readIso as read } from "./testing/iso-reader.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

test("builds a config drive with the label and the files that cloud-init looks for", () => {
  const image = configDrive({ metaData: { uuid: "u" }, userData: "#cloud-config\n", networkData: { links: [] } }, NOW);
  expect(
    Buffer.from(image)
      .toString("latin1", 16 * 2048 + 40, 16 * 2048 + 72)
      .trimEnd(),
  ).toBe("config-2");
  const files = new Map([
    ["openstack/latest/meta_data.json", '{"uuid":"u"}'],
    ["openstack/latest/network_data.json", '{"links":[]}'],
    ["openstack/latest/user_data", "#cloud-config\n"],
  ]);
  expect(read(image, false)).toEqual(files);
  expect(read(image, true)).toEqual(files);
});

test("returns the same bytes for the same input", () => {
  const data = { metaData: { uuid: "u" }, userData: "x", networkData: undefined };
  expect(configDrive(data, NOW)).toEqual(configDrive(data, NOW));
});

test("preserves every file, whatever the tree", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,30}[a-z0-9]$/);
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const content = fc.string({ unit: fc.constantFrom("a", "\n", "\xff"), maxLength: 5000 });
  fc.assert(
    fc.property(fc.dictionary(path, content, { maxKeys: 60 }), (tree) => {
      // A name is either a file or a folder.
      const paths = Object.keys(tree);
      const entries = Object.entries(tree).filter(([one]) => !paths.some((other) => other.startsWith(`${one}/`)));
      const files = new Map(entries.map(([key, value]) => [key, Buffer.from(value, "latin1")]));
      const image = buildIso({ label: "x", files, nowMs: NOW });
      expect(read(image, false)).toEqual(new Map(entries));
      expect(read(image, true)).toEqual(new Map(entries));
    }),
    { numRuns: 60 },
  );
});
