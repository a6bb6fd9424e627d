import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";
import { DIFFERENCES } from "./differences.ts";
import { differences } from "./harness/compare.ts";
import { type Ours, startOurs } from "./harness/ours.ts";
import { inCommon, without } from "./harness/paths.ts";
import { type Outcome, runScript } from "./harness/run-script.ts";
import type { Script, Step } from "./harness/script.ts";
import { startWebhooks, type Webhooks } from "./harness/webhook-server.ts";
import { scripts } from "./scripts/index.ts";

let real: RealKubernetes;
let ours: Ours;
let webhooks: Webhooks;
let compared = 0;

beforeAll(async () => {
  // What an autoscaler writes into its status depends on when it looks.
  const extraArgs = { controllerManager: ["--controllers=-horizontal-pod-autoscaler-controller"] };
  real = await startKubeApiserver({ controllerManager: true, extraArgs });
  ours = await startOurs(real);
  const pki = (file: string): string => readFileSync(join(real.pkiDir, file), "utf8");
  const { host, caPem } = real;
  webhooks = await startWebhooks({ host, caPem, certPem: pki("apiserver.crt"), keyPem: pki("apiserver.key") });
});

afterAll(async () => {
  await webhooks.stop();
  await ours.stop();
  await real.stop();
  console.log(`conformance: ${compared} requests compared with kube-apiserver`);
});

describe.each([...scripts])("$name", (script) => {
  let outcomes: { ours: (Outcome | undefined)[]; real: (Outcome | undefined)[] };

  beforeAll(async () => {
    const { host, port, caPem, admin } = real;
    const [left, right] = await Promise.all([
      runScript({ ...ours, webhooks }, script),
      runScript({ name: "real", host, port, caPem, admin, webhooks }, script),
    ]);
    outcomes = { ours: left, real: right };
  });

  it.each(comparable(script))("$title", ({ index, step }) => {
    let left: unknown = outcomes.ours[index];
    let right: unknown = outcomes.real[index];
    if (step.among !== undefined) [left, right] = inCommon(left, right, `body.${step.among}`);
    compared++;
    if (step.differs === undefined) {
      expect(differences(left, right)).toEqual([]);
      return;
    }
    const difference = DIFFERENCES[step.differs];
    if (difference === undefined) throw new Error(`differences.ts has no ${step.differs}`);
    expect(differences(without(left, difference.at), without(right, difference.at))).toEqual([]);
    expect(differences(left, right), `${step.differs} is no longer a difference: remove it`).not.toEqual([]);
  });
});

describe("expected differences", () => {
  it("are all explained in docs/differences.md and used", () => {
    const text = readFileSync(new URL("../../docs/differences.md", import.meta.url), "utf8");
    const used = scripts.flatMap((script) =>
      script.steps.map((step) => ("differs" in step ? step.differs : undefined)),
    );
    for (const name of Object.keys(DIFFERENCES)) {
      expect(text).toContain(`\`${name}\``);
      expect(used).toContain(name);
    }
  });

  it("do not include failures inside our server", () => {
    expect(ours.errors).toEqual([]);
  });
});

/** The steps that have something to compare, with a title each. */
function comparable(script: Script): { title: string; index: number; step: { differs?: string; among?: string } }[] {
  const titles: { title: string; index: number; step: { differs?: string; among?: string } }[] = [];
  script.steps.forEach((step: Step, index) => {
    if ("do" in step) titles.push({ title: `${index} ${step.do}`, index, step });
    else if ("events" in step) titles.push({ title: `${index} events of ${step.events}`, index, step });
  });
  return titles;
}
