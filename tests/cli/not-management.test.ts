import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Client } from "@capstan/runtime";
import { type CommandIo, runProgram } from "capstan";
import { expect, it } from "vitest";

it.each([
  ["get", "clusters"],
  ["why", "demo"],
  ["describe", "cluster", "demo"],
  ["create", "cluster", "demo", "--workers", "provider=memory,replicas=1"],
])("reports that a workload cluster is not a management cluster: %s %s", async (...args) => {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  let err = "";
  const io: CommandIo = {
    out: () => {},
    err: (text) => {
      err += text;
    },
    env: {},
    interactive: false,
    clock,
    target: {
      client: new Client(server.admin(), { fieldManager: "user", clock }),
      description: "https://workload:6443",
      server: "https://workload:6443",
      caPem: "",
      close: async () => {},
    },
  };
  expect(await runProgram(args, io)).not.toBe(0);
  expect(err).toContain("https://workload:6443 is not a management cluster");
  await server.close();
});
