import { expect, test } from "vitest";
import { restartStory } from "./restart-story.ts";

/** Restarts change nothing: neither orderly ones nor `kill -9`, at whatever moment. `npm run faults` does it with 300 clusters. */
test("clusters go through ten restarts as if there had been none: no Machine replaced, no byte changed, no error logged", {
  timeout: 240_000,
}, async () => {
  const { machines, problems } = await restartStory(8, 2);
  expect(problems).toEqual([]);
  expect(machines).toBe(10);
});
