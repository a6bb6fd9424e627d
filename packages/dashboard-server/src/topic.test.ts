import fc from "fast-check";
import { expect, test } from "vitest";
import { Sequence, Topic } from "./topic.ts";

const access = { group: "g", resource: "r", namespace: "n" };

/** A reader that applies changes as the dashboard does. */
function reader(): { items: Map<string, unknown>; read(topic: Topic, cursor: number): void } {
  const items = new Map<string, unknown>();
  return {
    items,
    read: (topic, cursor) => {
      const { reset, set, del } = topic.since(cursor);
      if (reset) items.clear();
      for (const { key, json } of set) items.set(key, JSON.parse(json));
      for (const { key } of del) items.delete(key);
    },
  };
}

test("a reader that reconnects at any time ends up with the topic's content", () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant("set" as const), key: fc.constantFrom("a", "b", "c"), value: fc.nat(3) }),
    fc.record({ type: fc.constant("remove" as const), key: fc.constantFrom("a", "b", "c"), value: fc.nat(3) }),
    fc.record({ type: fc.constant("read" as const), key: fc.constant(""), value: fc.nat(3) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const sequence = new Sequence("e");
      const topic = new Topic("t", sequence);
      const truth = new Map<string, number>();
      const { items, read } = reader();
      let cursor = 0;
      for (const { type, key, value } of steps) {
        if (type === "set") {
          topic.set(key, value, access);
          truth.set(key, value);
        } else if (type === "remove") {
          topic.remove(key);
          truth.delete(key);
        } else {
          read(topic, cursor);
          cursor = sequence.last;
        }
      }
      read(topic, cursor);
      expect(items).toEqual(truth);
    }),
  );
});

test("an unchanged item is not a change", () => {
  const sequence = new Sequence("e");
  const topic = new Topic("t", sequence);
  expect(topic.set("a", { x: 1 }, access)).toBe(true);
  const cursor = sequence.last;
  expect(topic.set("a", { x: 1 }, access)).toBe(false);
  expect(topic.since(cursor)).toEqual({ reset: false, set: [], del: [] });
});

test("resets a reader after too many deletions", () => {
  const sequence = new Sequence("e");
  const topic = new Topic("t", sequence);
  topic.set("old", 1, access);
  const cursor = sequence.last;
  for (let i = 0; i < 2001; i++) {
    topic.set(`k${i}`, i, access);
    topic.remove(`k${i}`);
  }
  expect(topic.since(cursor).reset).toBe(true);
});

test("event ids of another process, of the future or invalid ones start from scratch", () => {
  const sequence = new Sequence("mine");
  sequence.next();
  expect(["mine.1", "other.1", "mine.2", "mine.x", "", undefined].map((id) => sequence.parse(id))).toEqual([
    1, 0, 0, 0, 0, 0,
  ]);
});
