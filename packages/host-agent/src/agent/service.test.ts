import { expect, test } from "vitest";
import { ownCommand, unitText } from "./service.ts";

test("the service starts the program as it was started, whether it is a script or an executable", () => {
  expect(ownCommand(["/usr/bin/node", "/opt/agent.cjs", "--enrol", "secret"], "/usr/bin/node")).toEqual([
    "/usr/bin/node",
    "/opt/agent.cjs",
  ]);
  const program = "/usr/local/bin/capstan-host-agent";
  expect(ownCommand([program, program, "--enrol", "secret"], program)).toEqual([program]);
  expect(unitText([program, "--state", "/var/lib/a b"])).toContain(`ExecStart=${program} --state "/var/lib/a b"\n`);
});
