import type { AddressInfo } from "node:net";
import { createServer, connect as dial, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { parseAddressRange } from "./address-class.ts";
import { AddressRefused, DialGate, targetOf } from "./dial-gate.ts";

const ranges = (...texts: string[]) => texts.flatMap((text) => parseAddressRange(text) ?? []);
function gateOf(options: { allow?: string[]; own?: string[]; names?: Record<string, string[][]> } = {}) {
  const asked: string[] = [];
  const gate = new DialGate({
    allow: ranges(...(options.allow ?? [])),
    ownAddresses: () => options.own ?? [],
    resolve: async (host) => {
      asked.push(host);
      const answers = options.names?.[host] ?? [[]];
      const found = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  });
  return { gate, asked };
}

describe("an address in an object", () => {
  test.each([
    "127.0.0.1",
    "127.8.9.10",
    "0.0.0.0",
    "0.1.2.3",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "100.100.100.200",
    "::",
    "::1",
    "[::1]",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "ff02::1",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "2002:7f00:1::",
    "::ffff:0:127.0.0.1",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:7f00:0:100::",
    "64:ff9b:1:7f:0:1::",
    "10.0.0.5",
    "::ffff:10.0.0.5",
    "64:ff9b::a00:5",
    "2001:db8::5",
  ])("%s is refused", (host) => {
    const { gate } = gateOf({ own: ["10.0.0.5", "2001:db8::5"] });
    expect(() => gate.guard({ host, port: 443 })).toThrow(AddressRefused);
  });

  test.each(["10.0.0.6", "192.168.1.1", "8.8.8.8", "fd00::1", "2001:db8::6", "::ffff:10.0.0.6", "fec0::1"])(
    "%s is not",
    (host) => {
      const { gate } = gateOf({ own: ["10.0.0.5", "2001:db8::5"] });
      expect(() => gate.guard({ host, port: 443 })).not.toThrow();
    },
  );

  test("can be allowed as a range, with or without a port", () => {
    const { gate } = gateOf({ allow: ["127.0.0.0/8:9000", "[fe80::/10]:443", "::1"] });
    expect(() => gate.guard({ host: "127.0.0.1", port: 9000 })).not.toThrow();
    expect(() => gate.guard({ host: "::ffff:127.0.0.1", port: 9000 })).not.toThrow();
    expect(() => gate.guard({ host: "127.0.0.1", port: 9001 })).toThrow("--allow-address 127.0.0.1/32:9001");
    expect(() => gate.guard({ host: "fe80::1", port: 443 })).not.toThrow();
    expect(() => gate.guard({ host: "fe80::1", port: 80 })).toThrow("--allow-address [fe80::1/128]:80");
    expect(() => gate.guard({ host: "::1", port: 1 })).not.toThrow();
  });

  test("is allowed where this process serves a control plane, and nowhere else", () => {
    const { gate } = gateOf({ own: ["10.0.0.5"] });
    gate.serves("default/a", { host: "127.0.0.1", port: 6443 });
    gate.serves("default/b", { host: "0.0.0.0", port: 7443 });
    expect(() => gate.guard({ host: "127.0.0.1", port: 6443 })).not.toThrow();
    expect(() => gate.guard({ host: "10.0.0.5", port: 6443 })).toThrow(AddressRefused);
    expect(() => gate.guard({ host: "10.0.0.5", port: 7443 })).not.toThrow();
    expect(() => gate.guard({ host: "169.254.169.254", port: 7443 })).toThrow(AddressRefused);
    gate.serves("default/a", undefined);
    expect(() => gate.guard({ host: "127.0.0.1", port: 6443 })).toThrow(AddressRefused);
  });
});

test.each(["127.0.0.0/33", "127.0.0.1:0", "127.0.0.1:70000", "localhost", "127.0.0.0/8:", "fe80::/10:443:1", ""])(
  "%j is no range",
  (text) => {
    expect(parseAddressRange(text)).toBeUndefined();
  },
);

test("the port of a URL is the one that its scheme has, unless it names another", () => {
  expect(targetOf("https://[::1]/x")).toEqual({ host: "::1", port: 443 });
  expect(targetOf("http://127.1:81")).toEqual({ host: "127.0.0.1", port: 81 });
});

describe("a name", () => {
  test("is refused if all its addresses are, else the allowed ones are used", async () => {
    const { gate } = gateOf({ names: { bad: [["127.0.0.1", "::1"]], mixed: [["127.0.0.1", "192.0.2.1"]] } });
    await expect(gate.addresses({ host: "bad", port: 80 })).rejects.toThrow("bad is a loopback address");
    expect(await gate.addresses({ host: "mixed", port: 80 })).toEqual([{ address: "192.0.2.1", family: 4 }]);
    await expect(gate.addresses({ host: "unknown", port: 80 })).rejects.toMatchObject({ code: "ENOTFOUND" });
  });

  let server: Server | undefined;
  afterEach(() => server?.close());

  test("is resolved once for a connection: an answer that changes after the check is never used", async () => {
    let connections = 0;
    server = createServer(() => connections++);
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    // 203.0.113.1 is good and leads nowhere; whoever asks again gets loopback.
    const { gate, asked } = gateOf({ names: { rebinding: [["203.0.113.1"], ["127.0.0.1"]] } });
    await gate.addresses({ host: "rebinding", port });
    const socket = dial({ host: "rebinding", port, ...gate.guard({ host: "rebinding", port }) });
    const error = await new Promise((resolve) => socket.once("error", resolve).once("connect", resolve));
    socket.destroy();
    expect(error).toBeInstanceOf(AddressRefused);
    expect(connections).toBe(0);
    expect(asked).toEqual(["rebinding", "rebinding"]);
  });
});
