import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ours, startOurs } from "../conformance/harness/ours.ts";
import { type CommandResult, type RealKubernetes, runCommand, startKubeApiserver } from "../real-kubernetes/index.ts";
import { COMMANDS } from "./commands.ts";
import { followChanges } from "./follow.ts";
import { type KubectlStep, words } from "./script.ts";

let real: RealKubernetes;
let ours: Ours;
let dir: string;
let compared = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "capstan-kubectl-"));
  real = await startKubeApiserver({ controllerManager: true });
  ours = await startOurs(real);
  const text = readFileSync(real.kubeconfigFile, "utf8");
  writeFileSync(join(dir, "ours.conf"), text.replace(/server: .*/, `server: https://${ours.host}:${ours.port}`), {
    mode: 0o600,
  });
});

afterAll(async () => {
  await ours.stop();
  await real.stop();
  rmSync(dir, { recursive: true, force: true });
  console.log(`kubectl: ${compared} commands compared with kube-apiserver`);
});

const SYSTEM = "/usr/bin/kubectl";
/** So often the real server is asked for what it publishes some time after it was made: half a minute at least. */
const AWAITED = 200;

/** The kubectl of this release, and the system's, which may be older or newer. */
function programs(): [label: string, file: () => string][] {
  const built: [string, () => string] = ["the built kubectl", () => join(real.bin, "kubectl")];
  return existsSync(SYSTEM) ? [built, ["the system's kubectl", () => SYSTEM]] : [built];
}

describe.each(programs())("%s", (label, file) => {
  const namespace = label.includes("built") ? "suite" : "system-suite";

  it.each(COMMANDS.map((step, index) => ({ title: `${index} ${step.run}`, step })))("$title", async ({ step }) => {
    const asReal = (): Promise<CommandResult> => run(file(), step, namespace, real.kubeconfigFile);
    const [left, first] = await Promise.all([run(file(), step, namespace, join(dir, "ours.conf")), asReal()]);
    let right = first;
    for (let again = 0; step.awaited === true && right.code !== 0 && again < AWAITED; again++) right = await asReal();
    compared++;
    const shown = (result: CommandResult): object => visible(step, result);
    expect(shown(left)).toEqual(shown(right));
    if (step.contains !== undefined) expect(left.stdout).toContain(step.contains);
  });

  it("get -w follows changes", async () => {
    const [left, right] = await Promise.all([
      followChanges(file(), join(dir, "ours.conf"), join(dir, "cache-ours")),
      followChanges(file(), real.kubeconfigFile, join(dir, "cache-real")),
    ]);
    compared++;
    expect(left).toEqual(right);
    expect(left).toHaveLength(4);
  });
});

function run(file: string, step: KubectlStep, namespace: string, kubeconfig: string): Promise<CommandResult> {
  const named = (text: string): string => text.replaceAll("$ns", namespace);
  // A cache of its own: kubectl keeps discovery for hours.
  const cache = join(dir, kubeconfig.endsWith("ours.conf") ? "cache-ours" : "cache-real");
  const args = [...words(step.run).map(named), `--cache-dir=${cache}`];
  return runCommand(file, args, {
    env: { KUBECONFIG: kubeconfig, KUBE_EDITOR: "", ...step.env },
    input: named(step.input ?? ""),
    timeout: 60_000,
  });
}

/** What must be the same: without addresses, ages and whatever else the step says. */
function visible(step: KubectlStep, result: CommandResult): object {
  const clean = (text: string): string => {
    let cleaned = text
      .replace(/127\.0\.0\.1:\d+/g, "<server>")
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
      .replace(/(resourceVersion[\\": ]+)\d+/g, "$1<revision>")
      .replace(/20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
      .replace(/\b\d+(?:m\d+)?s\b/g, "<age>");
    for (const mask of step.mask ?? []) cleaned = cleaned.replace(new RegExp(mask, "g"), "<masked>");
    // Columns are as wide as their longest value, ages included.
    return cleaned.replace(/ {2,}/g, "  ").replace(/[ \t]+$/gm, "");
  };
  if (step.compare === "code") return { code: result.code };
  if (step.compare === "stdout") return { code: result.code, stdout: clean(result.stdout) };
  return { code: result.code, stdout: clean(result.stdout), stderr: clean(result.stderr) };
}
