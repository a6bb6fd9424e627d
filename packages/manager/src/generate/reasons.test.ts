import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHARED_REASONS } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../providers.ts";
import { reasonsPage } from "./reasons.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
/** Code of tests, and rules that match reasons instead of giving them. */
const LEFT_OUT = /\.test\.ts$|\/(testing|testdata|contract-suite|explain|simulation|simulated)\/|\/reasons\.ts$/;
/** `reason: "X"`, also as the outcome of a condition, and the functions that make conditions. */
const GIVEN =
  /(?:\breason:[^,;{}"]*(?:"[A-Z]\w+"\s*:\s*)?|\b(?:wait|say|no|fail|failed|notReady|notAssociated|waiting|PlacementProblem)\(\s*)"([A-Z][a-z]\w+)"/g;

/** Where a provider's reasons come from: its folder, and packages that work for it alone. */
const MORE: Readonly<Record<string, readonly string[]>> = { byoh: ["packages/host-agent"], kvm: ["packages/vm"] };
const FOLDERS: Readonly<Record<string, string>> = {
  core: "providers/core",
  "bootstrap-kubeadm": "providers/bootstrap-kubeadm",
  "controlplane-hosted": "providers/controlplane-hosted",
  "controlplane-kubeadm": "providers/controlplane-kubeadm",
};

function sources(folder: string): string {
  return readdirSync(join(root, folder, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !LEFT_OUT.test(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}

/** Types of conditions, which some functions take before the reason. */
const TYPES = new Set(["AgentConnected", "ClockInSync", "MachineIDUnique", "MachinesCreated", "MachinesReady"]);

/** Statuses, which `notReady` of hosts takes before the reason. */
const STATUSES = new Set(["False", "Unknown"]);

const given = (text: string): string[] =>
  [...new Set([...text.matchAll(GIVEN)].flatMap(([, reason]) => reason ?? []))].filter(
    (reason) => !TYPES.has(reason) && !STATUSES.has(reason),
  );

describe.each(PROVIDERS.filter(({ reasons }) => reasons !== undefined))("reasons of $name", ({ name, reasons }) => {
  const own = FOLDERS[name] ?? `providers/infra-${name}`;
  const text = [own, ...(MORE[name] ?? [])].map(sources).join("\n");

  test("has every reason that its conditions give in its catalogue", async () => {
    const known = { ...SHARED_REASONS, ...(await reasons?.()) };
    expect(given(text).filter((reason) => known[reason] === undefined)).toEqual([]);
  });

  test("lists no reason that nothing gives", async () => {
    const below = ["packages/controlplane", "packages/workloads"].map(sources).join("\n");
    const unused = Object.keys((await reasons?.()) ?? {}).filter(
      (reason) => !`${text}${below}`.includes(`"${reason}"`),
    );
    expect(unused).toEqual([]);
  });
});

test("the shared catalogue has every reason of packages/capi", () => {
  expect(given(sources("packages/capi")).filter((reason) => SHARED_REASONS[reason] === undefined)).toEqual([]);
});

test("the page has the meaning and the cure of a reason", async () => {
  expect(await reasonsPage()).toContain(
    "| `BinariesMissing` | The programs of this version are not on the management host. | Run capstan kubernetes install VERSION. |",
  );
});
