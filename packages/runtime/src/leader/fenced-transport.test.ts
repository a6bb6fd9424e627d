import type { Transport } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { fencedTransport } from "./fenced-transport.ts";
import { LeadershipLostError } from "./leader-elector.ts";

test("rejects writes and allows reads after leadership is lost", async () => {
  const sent: string[] = [];
  const inner: Transport = {
    request: async ({ method, path }) => {
      sent.push(`${method} ${path}`);
      return { status: 200, headers: {}, body: {}, warnings: [] };
    },
    watch: async function* () {},
    close: async () => undefined,
  };
  let leads = true;
  const transport = fencedTransport(inner, () => leads);
  await transport.request({ method: "PATCH", path: "/a" });
  leads = false;
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const)
    await expect(transport.request({ method, path: "/b" })).rejects.toThrow(LeadershipLostError);
  await transport.request({ method: "GET", path: "/c" });
  expect(sent).toEqual(["PATCH /a", "GET /c"]);
});
