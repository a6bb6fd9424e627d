import { readFileSync } from "node:fs";
import { systemClock } from "@capstan/apimachinery";
import { httpTransport, redactText } from "@capstan/runtime";
import { renderIgnition } from "@capstan/userdata";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ManagementApi, startManagementApi } from "./management-api.ts";

/**
 * A tenant writes a text that takes a regular expression quadratic time. One request or one object then keeps the manager's only thread
 * from everybody else for minutes.
 */
let api: ManagementApi;
beforeAll(async () => {
  api = await startManagementApi();
});
afterAll(() => api.close());

/** Processor time of the main thread, as the kernel counts it. */
function usedMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
}

const run = (text: string, count: number): string => text.repeat(count);

const ATTACKS: Record<string, () => unknown> = {
  "slashes in the server of a kubeconfig": () =>
    httpTransport({ server: `https://${run("/", 60_000)}x` }, { clock: systemClock }),
  "padding in the data of a Secret": () =>
    api.admin("POST", "/api/v1/namespaces/default/secrets", {
      metadata: { name: "padded" },
      data: { key: `${run("=", 60_000)}A` },
    }),
  "line ends in a file for Ignition": () =>
    renderIgnition({ files: [{ path: "/a", content: `${run("\n", 60_000)}x` }] } as never),
  "beginnings of tokens in a log line": () => redactText(run("-eyJ", 15_000)),
};

test.each(Object.entries(ATTACKS))(
  "%s",
  async (_what, attack) => {
    const before = usedMs();
    try {
      await attack();
    } catch {
      // Only the time counts.
    }
    expect(usedMs() - before).toBeLessThan(300);
  },
  120_000,
);
