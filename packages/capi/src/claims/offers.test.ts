import { afterEach, beforeEach, expect, test } from "vitest";
import { WaitingList } from "./waiting-list.ts";

interface Host {
  readonly color: string;
}

const any = (): boolean => true;
const red = ({ color }: Host): boolean => color === "red";
const request = (name: string) => ({ namespace: "default", name });

let list: WaitingList<Host>;
beforeEach(() => {
  list = new WaitingList();
  for (const name of ["first", "second", "third"]) list.wait(name, request(name), any);
});
afterEach(() => list.leave("first"));

const offer = (key: string, color = "red"): string | undefined => list.offer(key, { color }, "default")?.name;

test("offers hosts in the order in which machines began to wait, one to each", () => {
  expect([offer("a"), offer("b"), offer("c"), offer("d")]).toEqual(["first", "second", "third", undefined]);
});

test("skips machines that a host does not match, and those of other namespaces", () => {
  list.wait("first", request("first"), red);
  expect(offer("a", "blue")).toBe("second");
  expect(list.offer("b", { color: "red" }, "elsewhere")).toBeUndefined();
});

test("a machine that waits again keeps its place and reports the host that it did not take", () => {
  expect(offer("a")).toBe("first");
  expect(list.wait("first", request("first"), any)).toBe("a");
  expect(offer("b")).toBe("first");
});

test("a machine that leaves gives its offer back", () => {
  expect(offer("a")).toBe("first");
  expect(list.leave("first")).toBe("a");
  expect(list.leave("first")).toBeUndefined();
  expect(offer("a")).toBe("second");
});

test("a machine that failed to claim a host keeps it on offer, also one that did not wait before", () => {
  expect(list.hold("new", request("new"), "a")).toBeUndefined();
  expect(list.leave("new")).toBe("a");
  expect(offer("b")).toBe("first");
  expect(list.hold("first", request("first"), "c")).toBe("b");
  expect(list.leave("first")).toBe("c");
});

test("a machine that failed to claim a host keeps its place", () => {
  list.hold("first", request("first"), "a");
  expect(list.wait("first", request("first"), any)).toBe("a");
  expect(offer("b")).toBe("first");
});
