import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest, the longest first. Started last, one of them would run while all other workers have nothing left to do. */
export const SLOW = [
  "tests/docs/docs.test.ts",
  "providers/controlplane-hosted/src/placement/etcd-upgrade/pods.test.ts",
  "tests/cli/interrupt.test.ts",
  "providers/controlplane-hosted/src/placement/pods/etcd.test.ts",
  "providers/infra-metal3/src/contract.test.ts",
  "providers/core/src/machine-deployment/crash.test.ts",
  "providers/core/src/machine-set/crash.test.ts",
  "packages/workloads/src/process/killed-manager.test.ts",
  "tests/simulation/restart.test.ts",
  "tests/simulation/upgrade.test.ts",
  "tests/simulation/pairs.test.ts",
  "tests/simulation/mixed.test.ts",
  "tests/cli/up-oidc.test.ts",
];

/** Runs the slow files first. A fresh clone knows no durations yet, and the size of a file says little about them. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOW.findIndex((name) => moduleId.endsWith(`/${name}`));
      return at === -1 ? SLOW.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
