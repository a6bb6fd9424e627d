import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "../virtual-clock.ts";
import { addressGroup } from "./address-group.ts";
import { AttemptLimit } from "./attempt-limit.ts";
import { ByteBudget } from "./byte-budget.ts";
import { limitConnections, markAuthenticated } from "./connection-limits.ts";

class Socket extends EventEmitter {
  destroyed = false;
  readonly remoteAddress: string;
  readonly remotePort: number;

  constructor(address: string, port: number) {
    super();
    this.remoteAddress = address;
    this.remotePort = port;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function serve(maxConnections: number, maxUnauthenticatedPerAddress: number) {
  const clock = new VirtualClock();
  const server = new EventEmitter();
  limitConnections(server, { maxConnections, maxUnauthenticatedPerAddress, quietMs: 1000, answerMs: 10_000 }, clock);
  let port = 0;
  return {
    clock,
    connect: (address = "192.0.2.1"): Socket => {
      const socket = new Socket(address, ++port);
      server.emit("connection", socket);
      return socket;
    },
    /** A request that lasts until its response closes. */
    request: (socket: Socket): EventEmitter => {
      const response = new EventEmitter();
      server.emit("request", { socket }, response);
      return response;
    },
    secure: (socket: Socket): Socket => {
      const tls = new Socket(socket.remoteAddress, socket.remotePort);
      server.emit("secureConnection", tls);
      return tls;
    },
    session: (socket: Socket): object => {
      const session = { socket };
      server.emit("session", session);
      return session;
    },
  };
}

const alive = (...sockets: Socket[]): boolean[] => sockets.map(({ destroyed }) => !destroyed);

describe("connections", () => {
  it("of one address beyond its limit replace its oldest quiet one, and no other address's", () => {
    const { connect, request } = serve(100, 2);
    const other = connect("192.0.2.2");
    const [first, second] = [connect(), connect()];
    request(first);
    const third = connect();
    expect(alive(other, first, second, third)).toEqual([true, true, false, true]);
  });

  it("are refused when the address has only ones that are being served", () => {
    const { connect, request } = serve(100, 1);
    const first = connect();
    const response = request(first);
    expect(alive(first, connect())).toEqual([true, false]);
    response.emit("close");
    const next = connect();
    expect(alive(first, next)).toEqual([false, true]);
  });

  it("with requests that have been open for long make room for new ones", async () => {
    const { connect, request, clock } = serve(100, 1);
    const first = connect();
    request(first);
    await clock.advance(4900);
    expect(alive(first, connect())).toEqual([true, false]);
    await clock.advance(200);
    const next = connect();
    expect(alive(first, next)).toEqual([false, true]);
  });

  it("that are authenticated stay, and do not count for their address", async () => {
    const { connect, secure, session, clock } = serve(100, 1);
    const [plain, tls, h2] = [connect(), connect("192.0.2.2"), connect("192.0.2.3")];
    markAuthenticated(plain);
    markAuthenticated(secure(tls));
    markAuthenticated(session(secure(h2)));
    const more = [connect(), connect("192.0.2.2"), connect("192.0.2.3")];
    await clock.advance(900);
    expect(alive(plain, tls, h2, ...more)).toEqual([true, true, true, true, true, true]);
    await clock.advance(200);
    expect(alive(plain, tls, h2, ...more)).toEqual([true, true, true, false, false, false]);
  });

  it("without authentication make room for new ones when the server is full; authenticated ones never do", () => {
    const { connect } = serve(2, 10);
    const first = connect("192.0.2.1");
    markAuthenticated(first);
    const second = connect("192.0.2.2");
    const third = connect("192.0.2.3");
    expect(alive(first, second, third)).toEqual([true, false, true]);
    markAuthenticated(third);
    expect(alive(connect("192.0.2.4"), first, third)).toEqual([false, true, true]);
    first.destroy();
    expect(alive(connect("192.0.2.5"))).toEqual([true]);
  });

  it("without a request are closed after a while, which begins again after each answer", async () => {
    const { connect, request, clock } = serve(10, 10);
    const [quiet, busy] = [connect(), connect()];
    const response = request(busy);
    await clock.advance(1100);
    expect(alive(quiet, busy)).toEqual([false, true]);
    response.emit("close");
    await clock.advance(900);
    expect(alive(busy)).toEqual([true]);
    await clock.advance(200);
    expect(alive(busy)).toEqual([false]);
  });

  it("without authentication that leave responses unread are closed, also when they keep sending requests; authenticated ones stay", async () => {
    const { connect, request, clock } = serve(10, 10);
    const [slow, user] = [connect(), connect()];
    let response = request(slow);
    request(user);
    markAuthenticated(user);
    for (let i = 0; i < 4; i++) {
      await clock.advance(2200);
      const next = request(slow);
      response.emit("close");
      response = next;
    }
    expect(alive(slow, user)).toEqual([true, true]);
    await clock.advance(2200);
    expect(alive(slow, user)).toEqual([false, true]);
  });
});

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
  ["::1", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:0DB8::1", "2001:db8:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["", ""],
])("counts %s as %s", (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

describe("attempts", () => {
  const options = { max: 2, windowMs: 1000, maxAddresses: 2 };

  it("of one address are limited, also those at the same time, and end with the window", async () => {
    const clock = new VirtualClock();
    const limit = new AttemptLimit(options, clock);
    expect([limit.begin("a"), limit.begin("a"), limit.begin("a")].map((end) => end !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
    expect(limit.begin("b")).toBeDefined();
    await clock.advance(1100);
    expect(limit.begin("a")).toBeDefined();
  });

  it("that succeed do not count, and memory is bounded", () => {
    const limit = new AttemptLimit(options, new VirtualClock());
    for (let i = 0; i < 5; i++) limit.begin("a")?.();
    limit.begin("a");
    limit.begin("a");
    limit.begin("b");
    expect(limit.begin("a")).toBeUndefined();
    limit.begin("c");
    expect(limit.begin("a")).toBeDefined();
  });
});

it("shares a byte budget, and releases it at once", () => {
  const budget = new ByteBudget(10);
  const [one, two] = [budget.share(), budget.share()];
  expect([one.take(6), two.take(5), two.take(4)]).toEqual([true, false, true]);
  one.release();
  expect([two.take(6), one.take(1)]).toEqual([true, false]);
});
