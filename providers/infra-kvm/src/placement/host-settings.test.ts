import { expect, test } from "vitest";
import { CLOSED_HOST, parseHostSettings, readHostSettings } from "./host-settings.ts";

test("allows nothing without a file", async () => {
  expect(await readHostSettings("/nonexistent/host.json")).toEqual(CLOSED_HOST);
});

test("reads what is stated, and allows nothing else", () => {
  const text = '{"imageFolders": ["/images"], "openUserNetwork": true, "memoryMiB": 4096}';
  expect(parseHostSettings(text, "host.json")).toEqual({
    imageFolders: ["/images"],
    volumeFolders: [],
    openUserNetwork: true,
    memoryMiB: 4096,
  });
});

test.each([
  ["{", "not JSON"],
  ["[]", "not an object"],
  ['{"imageFolder": []}', "there is no setting imageFolder"],
  ['{"imageFolders": ["images"]}', "must be a list of absolute paths"],
  ['{"openUserNetwork": "yes"}', "must be true or false"],
  ['{"memoryMiB": 0}', "must be a whole number above 0"],
  ['{"toString": 1}', "there is no setting toString"],
])("refuses %s", (text, message) => {
  expect(() => parseHostSettings(text, "host.json")).toThrow(message);
});
