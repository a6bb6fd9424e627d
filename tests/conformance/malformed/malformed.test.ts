import { readFileSync } from "node:fs";
import { seededRandom } from "@capstan/apimachinery";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MalformedRequest, malformedRequest } from "../../faults/malformed.ts";
import { type RealKubernetes, startKubeApiserver } from "../../real-kubernetes/index.ts";
import { Client } from "../harness/client.ts";
import { type Ours, startOurs } from "../harness/ours.ts";
import { ALLOWED } from "./allowed.ts";
import { ask, harmless, prepare, type Verdict } from "./ask-both.ts";

/** MALFORMED_SEED and MALFORMED_COUNT try others. */
const SEED = Number(process.env["MALFORMED_SEED"] ?? 1);
const COUNT = Number(process.env["MALFORMED_COUNT"] ?? 4_000);
const AT_ONCE = 8;
const PATIENCE_MS = 600_000;

let real: RealKubernetes;
let ours: Ours;

beforeAll(async () => {
  real = await startKubeApiserver();
  ours = await startOurs(real);
});

afterAll(async () => {
  await ours.stop();
  await real.stop();
});

describe("malformed requests", () => {
  const seen = new Set<string>();

  it(
    `${COUNT} of seed ${SEED} are judged as kube-apiserver judges them`,
    async () => {
      const { host, port, caPem, admin } = real;
      const clients = { ours: new Client(ours), real: new Client({ name: "real", host, port, caPem, admin }) };
      await Promise.all([prepare(clients.ours), prepare(clients.real)]);
      const random = seededRandom(SEED);
      const unexplained: string[] = [];
      const examples = ALLOWED.map(({ example }) => example);
      let sent = 0;
      const lane = async (): Promise<void> => {
        while (sent < COUNT) {
          const request = examples.pop() ?? harmless(malformedRequest(random));
          if (request === undefined) continue;
          sent++;
          const [left, right] = await Promise.all([ask(clients.ours, request), ask(clients.real, request)]);
          if (left.status === right.status && left.reason === right.reason) continue;
          const allowed = ALLOWED.find(({ fits }) => fits(request, left, right));
          if (allowed === undefined) unexplained.push(describeDifference(request, left, right));
          else seen.add(allowed.name);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      clients.ours.close();
      clients.real.close();
      expect(unexplained.sort()).toEqual([]);
    },
    PATIENCE_MS,
  );

  it("never make our server fail", () => {
    expect(ours.errors).toEqual([]);
  });

  it("differ only in ways that docs/differences.md explains and that still show", () => {
    const text = readFileSync(new URL("../../../docs/differences.md", import.meta.url), "utf8");
    for (const { name } of ALLOWED) {
      expect(text).toContain(`\`${name}\``);
      expect([...seen]).toContain(name);
    }
  });
});

const BODY_SHOWN = 120;

function describeDifference({ method, path, headers, body }: MalformedRequest, left: Verdict, right: Verdict): string {
  const start = JSON.stringify(body?.subarray(0, BODY_SHOWN).toString("latin1") ?? "");
  const shown = ({ status, reason, message }: Verdict): string =>
    `${status} ${reason}: ${message.slice(0, BODY_SHOWN)}`;
  return `ours ${shown(left)} | real ${shown(right)} | ${method} ${path} ${JSON.stringify(headers)} ${start} (${body?.length ?? 0} bytes)`;
}
