import { CLUSTER_CASES } from "./cluster-cases.ts";
import { crashCases, deletionOrders } from "./crash-cases.ts";
import { Harness } from "./harness.ts";
import { kindCases } from "./kind-cases.ts";
import { type HarnessCase, MACHINE_CASES } from "./machine-cases.ts";
import { type ContractCase, type ContractSubject, machinesOf } from "./types.ts";

export type { ContractApi, ContractCase, ContractSubject, ContractWorld, MachineSubject } from "./types.ts";

/**
 * Everything an infrastructure provider must do, as cases for any test runner:
 * `for (const { name, run } of contractCases(subject)) it(name, run)`.
 */
export function contractCases(subject: ContractSubject): ContractCase[] {
  const start = (): Promise<Harness> => Harness.start(subject);
  const alone = ({ name, run }: HarnessCase): ContractCase => ({
    name,
    run: async () => {
      const harness = await start();
      try {
        await run(harness);
      } finally {
        await harness.close();
      }
    },
  });
  return [
    ...kindCases(subject).map(alone),
    ...(subject.cluster === undefined ? [] : CLUSTER_CASES).map(alone),
    ...(machinesOf(subject) === undefined ? [] : MACHINE_CASES).map(alone),
    ...deletionOrders(subject).map(alone),
    ...crashCases(subject, start),
  ];
}
