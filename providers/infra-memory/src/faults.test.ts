import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { silentLogger } from "@capstan/runtime";
import { expect, test } from "vitest";
import { MemoryBackend } from "./backend.ts";
import { BOOT_SECONDS_ANNOTATION, behaviourOf, FAULT_ANNOTATION } from "./faults.ts";
import { FAULTS, MemoryMachine } from "./kinds/memory-machine.ts";

const machine = (spec: MemoryMachine["spec"], annotations: Record<string, string> = {}): MemoryMachine => ({
  apiVersion: MemoryMachine.apiVersion,
  kind: "MemoryMachine",
  metadata: { name: "m", namespace: "default", annotations },
  spec,
});

test.each(FAULTS)("%s is requested in the spec or by annotation, and removed by none", (fault) => {
  expect(behaviourOf(machine({ fault }), 0).fault).toBe(fault);
  expect(behaviourOf(machine({}, { [FAULT_ANNOTATION]: fault }), 0).fault).toBe(fault);
  expect(behaviourOf(machine({ fault }, { [FAULT_ANNOTATION]: "none" }), 0).fault).toBeUndefined();
});

test("the annotation comes before the spec, and a word that is no fault is none", () => {
  const given = (word: string) => behaviourOf(machine({ fault: "NeverBoots" }, { [FAULT_ANNOTATION]: word }), 0).fault;
  expect(given("NodeDies")).toBe("NodeDies");
  expect(given("Sulks")).toBeUndefined();
});

test.each([
  ["600", 600_000],
  ["0", 0],
  ["0.5", 500],
  ["86400", 86_400_000],
])("boots %s seconds after its creation", (text, bootMs) => {
  expect(behaviourOf(machine({ bootSeconds: 20 }, { [BOOT_SECONDS_ANNOTATION]: text }), 0).bootMs).toBe(bootMs);
});

test.each(["", " ", "-1", "soon", "86401", "1e308", "Infinity", "NaN", "[object Object]"])(
  "a boot time of %j is no time: the spec's counts",
  (text) => {
    expect(behaviourOf(machine({ bootSeconds: 20 }, { [BOOT_SECONDS_ANNOTATION]: text }), 0).bootMs).toBe(20_000);
  },
);

test("jitter is the machine's share of what the spec allows", () => {
  expect(behaviourOf(machine({ bootSeconds: 20, bootJitterSeconds: 10 }), 0.25).bootMs).toBe(22_500);
});

const backend = (seed: number): MemoryBackend =>
  new MemoryBackend({
    clock: new VirtualClock(),
    random: seededRandom(seed + 100),
    log: silentLogger,
    seed,
    connect: () => {
      throw new Error("nothing is joined");
    },
  });

test("shares follow from seed and name alone", () => {
  const names = Array.from({ length: 100 }, (_, i) => `default/m${i}`);
  const shares = (seed: number) => names.map((name) => backend(seed).share(name));
  expect(shares(1)).toEqual(shares(1));
  expect(shares(1)).not.toEqual(shares(2));
  expect(new Set(shares(1)).size).toBe(100);
  expect(shares(1).every((share) => share >= 0 && share < 1)).toBe(true);
});
