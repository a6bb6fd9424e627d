import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, describe, expect, test } from "vitest";
import type { RunProgram } from "./exec-plugin.ts";
import { inClusterConfig } from "./in-cluster.ts";
import { kubeconfigFromText, loadKubeconfig } from "./load.ts";

const dir = mkdtempSync(join(tmpdir(), "kubeconfig-"));
afterAll(() => rmSync(dir, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const clock = new VirtualClock();
/** Looks like a certificate until a client connects. */
const CA = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n";

function config(options: { cluster?: string; user?: string; context?: string; current?: string }): string {
  return `apiVersion: v1
kind: Config
current-context: ${options.current ?? "one"}
clusters:
- name: c1
  cluster: {${options.cluster ?? "server: https://one.example:6443"}}
users:
- name: u1
  user: {${options.user ?? ""}}
contexts:
- name: one
  context: {cluster: c1, user: u1${options.context ?? ""}}
`;
}

describe("loadKubeconfig", () => {
  test("embedded certificates, namespace, server name", async () => {
    const cluster = `server: "https://one.example:6443", certificate-authority-data: ${base64(CA)}, tls-server-name: kube`;
    const user = `client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}`;
    const path = file("a", config({ cluster, user, context: ", namespace: prod" }));
    const loaded = await loadKubeconfig({ clock, path, environment: {} });
    expect(loaded).toMatchObject({
      server: "https://one.example:6443",
      namespace: "prod",
      tls: { caPem: CA, insecure: false, serverName: "kube" },
    });
    expect(await loaded.credentials?.get()).toMatchObject({ certPem: "CERT", keyPem: "KEY" });
  });

  test("file names are relative to the kubeconfig, data wins over a file", async () => {
    file("ca.crt", CA);
    file("user.crt", "CERT-FILE");
    file("user.key", "KEY-FILE");
    const user = `client-certificate: user.crt, client-key: user.key, client-key-data: ${base64("KEY-DATA")}`;
    const path = file("b", config({ cluster: "server: https://x, certificate-authority: ca.crt", user }));
    const loaded = await loadKubeconfig({ clock, path, environment: {} });
    expect(loaded.tls?.caPem).toBe(CA);
    expect(await loaded.credentials?.get()).toMatchObject({ certPem: "CERT-FILE", keyPem: "KEY-DATA" });
  });

  test("files of KUBECONFIG are merged: the first to say something wins, missing ones are skipped", async () => {
    const first = file("first", "current-context: two\nclusters:\n- {name: c1, cluster: {server: 'https://first'}}\n");
    const second = file(
      "second",
      `current-context: one
clusters:
- {name: c1, cluster: {server: 'https://second'}}
- {name: c2, cluster: {server: 'https://other'}}
users:
- {name: u, user: {token: t}}
contexts:
- {name: one, context: {cluster: c1, user: u}}
- {name: two, context: {cluster: c2, user: u}}
`,
    );
    const environment = { KUBECONFIG: [first, join(dir, "none"), second].join(":") };
    expect((await loadKubeconfig({ clock, environment })).server).toBe("https://other");
    expect((await loadKubeconfig({ clock, environment, context: "one" })).server).toBe("https://first");
  });

  test("a token file wins over a token and is read again after a minute", async () => {
    const tokenFile = file("token", "one\n");
    const path = file("c", config({ user: `token: fixed, tokenFile: ${tokenFile}` }));
    const { credentials } = await loadKubeconfig({ clock, path, environment: {} });
    expect((await credentials?.get())?.token).toBe("one");
    file("token", "two");
    expect((await credentials?.get())?.token).toBe("one");
    await clock.advance(60_000);
    expect((await credentials?.get())?.token).toBe("two");
    rmSync(tokenFile);
    await clock.advance(60_000);
    expect((await credentials?.get())?.token).toBe("two");
  });

  test("user and password", async () => {
    const path = file("d", config({ user: "username: admin, password: x" }));
    const { credentials } = await loadKubeconfig({ clock, path, environment: {} });
    expect(await credentials?.get()).toEqual({ basic: { username: "admin", password: "x" } });
  });

  test.each([
    ["nothing about TLS", "server: 'localhost:8080'", "", "http://localhost:8080"],
    ["an authority", `server: one.example, certificate-authority-data: ${base64(CA)}`, "", "https://one.example"],
    ["trust in any server", "server: one.example, insecure-skip-tls-verify: true", "", "https://one.example"],
    [
      "a certificate",
      "server: one.example",
      "client-certificate-data: Qw==, client-key-data: Sw==",
      "https://one.example",
    ],
  ])("a server without a scheme and with %s", async (_, cluster, user, expected) => {
    const path = file("scheme", config({ cluster, user }));
    const loaded = await loadKubeconfig({ clock, path, environment: {} });
    expect(loaded.server).toBe(expected);
    expect(loaded.tls?.insecure).toBe(cluster.includes("insecure"));
  });

  test("uses a new certificate once its key exists, too", async () => {
    const random = seededRandom(1);
    const ca = await createCertificateAuthority({ commonName: "ca", notBeforeMs: 0, validMs: 1e12, random });
    const issue = () =>
      issueCertificate(ca, { commonName: "u", usages: ["client"], nowMs: clock.now(), validMs: 1e9, random });
    const [old, next] = [await issue(), await issue()];
    file("pair.crt", old.certPem);
    file("pair.key", old.keyPem);
    const path = file("pair", config({ user: "client-certificate: pair.crt, client-key: pair.key" }));
    const { credentials } = await loadKubeconfig({ clock, path, environment: {} });
    const used = (await credentials?.get()) ?? {};
    file("pair.crt", next.certPem);
    await clock.advance(60_000);
    expect(await credentials?.get()).toMatchObject(old);
    file("pair.key", next.keyPem);
    expect(await credentials?.get()).toMatchObject(next);
    // What was refused is no longer in use: nothing to be forgotten.
    file("pair.crt", old.certPem);
    expect(credentials?.invalidate(used)).toBe(true);
    expect(await credentials?.get()).toMatchObject(next);
  });

  test("ignores mistakes of users that are not selected", async () => {
    const text = `${config({ user: "token: t" })}`.replace(
      "users:",
      "users:\n- name: broken\n  user: {as-groups: [x]}",
    );
    const loaded = await loadKubeconfig({ clock, path: file("other", text), environment: {} });
    expect((await loaded.credentials?.get())?.token).toBe("t");
  });

  test("impersonation", async () => {
    const user = "token: t, as: jane, as-groups: [dev], as-uid: '5', as-user-extra: {scopes: [view]}";
    const path = file("e", config({ user }));
    const { impersonate } = await loadKubeconfig({ clock, path, environment: {} });
    expect(impersonate).toEqual({ user: "jane", groups: ["dev"], uid: "5", extra: { scopes: ["view"] } });
  });

  test.each([
    ["proxy-url of the cluster", "server: https://x.example, proxy-url: 'http://p:3128'", {}, "http://p:3128"],
    ["SOCKS5", "server: https://x.example, proxy-url: 'socks5://u:p@p:1080'", {}, "socks5://u:p@p:1080"],
    ["HTTPS_PROXY", "server: https://x.example", { HTTPS_PROXY: "p:1" }, "http://p:1"],
    ["lower case", "server: https://x.example", { https_proxy: "http://p:1" }, "http://p:1"],
    ["NO_PROXY by name", "server: https://x.example", { HTTPS_PROXY: "p:1", NO_PROXY: "a,.example" }, undefined],
    ["NO_PROXY by range", "server: https://10.1.2.3", { HTTPS_PROXY: "p:1", NO_PROXY: "10.0.0.0/8" }, undefined],
    ["NO_PROXY for all", "server: https://x.example", { HTTPS_PROXY: "p:1", NO_PROXY: "*" }, undefined],
    [
      "NO_PROXY by port",
      "server: https://x.example:6443",
      { HTTPS_PROXY: "p:1", NO_PROXY: "x.example:6443" },
      undefined,
    ],
    [
      "NO_PROXY, other port",
      "server: https://x.example:6443",
      { HTTPS_PROXY: "p:1", NO_PROXY: "x.example:1" },
      "http://p:1",
    ],
    ["loopback", "server: https://127.0.0.1:6443", { HTTPS_PROXY: "p:1" }, undefined],
  ])("proxy: %s", async (_, cluster, environment, expected) => {
    const path = file("f", config({ cluster }));
    expect((await loadKubeconfig({ clock, path, environment })).proxyUrl).toBe(expected);
  });

  test.each([
    ["no such file", undefined, /cannot be read/],
    ["not YAML", "a: [", /not valid YAML/],
    ["not a mapping", "- 1", /top level must be a mapping/],
    ["wrong type", "clusters: 5", /clusters must be a list/],
    ["a number as token", config({ user: "token: 5" }), /users\[0\]\.user\.token must be a text/],
    ["unknown context", config({ current: "nope" }), /context "nope" does not exist; there are: one/],
    ["no server", config({ cluster: "" }), /no server/],
    ["old auth provider", config({ user: "auth-provider: {name: gcp}" }), /auth-provider "gcp" was removed/],
    [
      "data that is not base64",
      config({ user: "client-key-data: '%%%'" }),
      /users\[0\]\.user\.client-key-data is not base64/,
    ],
    [
      "an authority that is none",
      config({ cluster: `server: https://x, certificate-authority-data: ${base64("hello")}` }),
      /cluster "c1": certificate-authority-data contains no certificate in PEM format/,
    ],
    [
      "a CA and no verification",
      config({
        cluster: `server: https://x, certificate-authority-data: ${base64(CA)}, insecure-skip-tls-verify: true`,
      }),
      /cluster "c1": certificate-authority and insecure-skip-tls-verify exclude each other/,
    ],
    [
      "a certificate without key",
      config({ user: "client-certificate-data: Qw==" }),
      /user "u1": client-certificate needs/,
    ],
    ["groups without a user", config({ user: "token: t, as-groups: [dev]" }), /user "u1": .* name the user to act as/],
    [
      "a program and a provider",
      config({ user: "exec: {command: x}, auth-provider: {name: oidc}" }),
      /exec and auth-provider exclude each other/,
    ],
    [
      "no program",
      config({ user: "exec: {apiVersion: client.authentication.k8s.io/v1}" }),
      /exec\.command is required/,
    ],
    ["a nameless variable", config({ user: "exec: {command: x, env: [{value: y}]}" }), /exec\.env needs a name/],
    [
      "an unknown mode",
      config({ user: "exec: {command: x, interactiveMode: never}" }),
      /interactiveMode "never" is none of Never, IfAvailable, Always/,
    ],
    ["oidc without an issuer", config({ user: "auth-provider: {name: oidc}" }), /config\.idp-issuer-url is required/],
    // Both are kubectl's messages.
    [
      "unsupported proxy scheme",
      config({ cluster: "server: https://x, proxy-url: 'ftp://p'" }),
      /unsupported scheme "ftp", must be http, https, or socks5/,
    ],
    [
      "two proofs",
      config({ user: "token: t, username: a, password: b" }),
      /more than one authentication method found for u1; found \[token basicAuth\], only one is allowed/,
    ],
  ])("a clear error for: %s", async (_, text, message) => {
    const path = text === undefined ? join(dir, "missing") : file("bad", text);
    await expect(loadKubeconfig({ clock, path, environment: {} })).rejects.toThrow(message);
  });

  test("reports where it looked when there is no file", async () => {
    await expect(loadKubeconfig({ clock, environment: {}, home: dir })).rejects.toThrow(/no kubeconfig found \(tried/);
  });

  test("rejects a kubeconfig from a Secret that reads files or runs programs", async () => {
    await expect(kubeconfigFromText(config({ user: "tokenFile: /etc/passwd" }), { clock })).rejects.toThrow(/embedded/);
    await expect(kubeconfigFromText(config({ user: "auth-provider: {name: oidc}" }), { clock })).rejects.toThrow(
      /embedded/,
    );
    await expect(
      kubeconfigFromText(config({ cluster: "server: https://x, certificate-authority: /ca" }), { clock }),
    ).rejects.toThrow(/embed certificate-authority-data/);
    expect((await kubeconfigFromText(config({ user: "token: t" }), { clock })).server).toBe("https://one.example:6443");
  });
});

describe("exec plugins", () => {
  const credential = (status: object, version = "v1"): string =>
    JSON.stringify({ apiVersion: `client.authentication.k8s.io/${version}`, kind: "ExecCredential", status });
  const load = async (
    run: RunProgram,
    exec = "command: get-token, args: [a], env: [{name: X, value: y}]",
    version = "v1",
  ) => {
    const user = `exec: {apiVersion: client.authentication.k8s.io/${version}, ${exec}}`;
    const loaded = await loadKubeconfig({
      clock,
      path: file("x", config({ user })),
      environment: { PATH: "/bin" },
      run,
    });
    if (loaded.credentials === undefined) throw new Error("no credentials");
    return loaded.credentials;
  };

  test.each(["v1", "v1beta1"])(
    "%s: runs with arguments, environment and exec info; caches until it expires",
    async (version) => {
      const calls: { command: string; args: readonly string[]; env: Record<string, string | undefined> }[] = [];
      const credentials = await load(
        (command, args, { env }) => {
          calls.push({ command, args, env });
          const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
          return Promise.resolve({
            code: 0,
            stdout: credential({ token: `t${calls.length}`, expirationTimestamp }, version),
          });
        },
        "command: get-token, args: [a], env: [{name: X, value: y}], provideClusterInfo: true",
        version,
      );
      const [one, same] = await Promise.all([credentials.get(), credentials.get()]);
      expect([one.token, same.token]).toEqual(["t1", "t1"]);
      expect(calls[0]).toMatchObject({ command: "get-token", args: ["a"], env: { PATH: "/bin", X: "y" } });
      expect(JSON.parse(calls[0]?.env["KUBERNETES_EXEC_INFO"] ?? "")).toMatchObject({
        apiVersion: `client.authentication.k8s.io/${version}`,
        kind: "ExecCredential",
        spec: { cluster: { server: "https://one.example:6443" } },
      });
      await clock.advance(60_000);
      expect((await credentials.get()).token).toBe("t2");
      const refused = await credentials.get();
      expect(credentials.invalidate(refused)).toBe(true);
      expect((await credentials.get()).token).toBe("t3");
      // A second request that was refused with the old token does not cost the new one.
      expect(credentials.invalidate(refused)).toBe(true);
      expect((await credentials.get()).token).toBe("t3");
    },
  );

  test("all of the cluster that a program may want to know", async () => {
    const cluster = `server: 'https://one.example', certificate-authority-data: ${base64(CA)}, tls-server-name: kube, proxy-url: 'http://p:1', extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]`;
    const exec = "apiVersion: client.authentication.k8s.io/v1, command: get-token, provideClusterInfo: true";
    let info: unknown;
    const run: RunProgram = (_, __, { env }) => {
      info = JSON.parse(env["KUBERNETES_EXEC_INFO"] ?? "");
      return Promise.resolve({ code: 0, stdout: credential({ token: "t" }) });
    };
    const path = file("info", config({ cluster, user: `exec: {${exec}}` }));
    await (await loadKubeconfig({ clock, path, environment: {}, run })).credentials?.get();
    expect(info).toMatchObject({
      spec: {
        cluster: {
          server: "https://one.example",
          "certificate-authority-data": base64(CA),
          "tls-server-name": "kube",
          "proxy-url": "http://p:1",
          config: { audience: "x" },
        },
      },
    });
  });

  test.each([
    ["./get-token", join(dir, "get-token")],
    ["get-token", "get-token"],
    ["/opt/get-token", "/opt/get-token"],
  ])("program %s", async (command, expected) => {
    let ran: string | undefined;
    const credentials = await load((program) => {
      ran = program;
      return Promise.resolve({ code: 0, stdout: credential({ token: "t" }) });
    }, `command: ${command}`);
    await credentials.get();
    expect(ran).toBe(expected);
  });

  test("does not run an interactive plugin without a terminal", async () => {
    const { isTTY } = process.stdin;
    const run: RunProgram = (_, __, { interactive }) =>
      Promise.resolve({ code: 0, stdout: credential({ token: interactive ? "asked" : "not asked" }) });
    try {
      process.stdin.isTTY = false;
      await expect((await load(run, "command: x, interactiveMode: Always")).get()).rejects.toThrow(/needs a terminal/);
      expect((await (await load(run, "command: x, interactiveMode: IfAvailable")).get()).token).toBe("not asked");
      process.stdin.isTTY = true;
      expect((await (await load(run, "command: x, interactiveMode: Always")).get()).token).toBe("asked");
      expect((await (await load(run, "command: x, interactiveMode: Never")).get()).token).toBe("not asked");
    } finally {
      process.stdin.isTTY = isTTY;
    }
  });

  test("certificates", async () => {
    const status = { clientCertificateData: "C", clientKeyData: "K" };
    const credentials = await load(() => Promise.resolve({ code: 0, stdout: credential(status) }));
    expect(await credentials.get()).toMatchObject({ certPem: "C", keyPem: "K" });
  });

  test.each([
    ["fails", { code: 3, stdout: "" }, /failed with exit code 3/],
    ["no JSON", { code: 0, stdout: "s3cret" }, /not JSON/],
    ["nothing", { code: 0, stdout: credential({}) }, /neither a token nor/],
    ["other version", { code: 0, stdout: credential({ token: "s3cret" }, "v1beta1") }, /answered in .*v1beta1/],
    ["half a pair", { code: 0, stdout: credential({ token: "s3cret", clientCertificateData: "C" }) }, /without a key/],
  ])("a clear error, never with what it printed: %s", async (_, result, message) => {
    const credentials = await load(() => Promise.resolve(result));
    const error = await credentials.get().then(
      () => "no error",
      (e: Error) => e.message,
    );
    expect(error).toMatch(message);
    expect(error).not.toContain("s3cret");
  });

  test("a missing program's install hint is shown", async () => {
    const credentials = await load(
      () => Promise.reject(new Error("ENOENT")),
      "command: nope, installHint: install nope first",
    );
    await expect(credentials.get()).rejects.toThrow(/cannot run exec plugin nope: ENOENT\ninstall nope first/);
  });

  test("a real program", async () => {
    const path = file("plugin.sh", `#!/bin/sh\nprintf '%s' '${credential({ token: "real" })}'\n`);
    const user = `exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [${path}], interactiveMode: Never}`;
    const { credentials } = await loadKubeconfig({
      clock,
      path: file("y", config({ user })),
      environment: process.env,
    });
    expect((await credentials?.get())?.token).toBe("real");
  });
});

describe("inClusterConfig", () => {
  test("undefined outside of a pod, the service account inside", async () => {
    expect(await inClusterConfig({ clock, environment: {} })).toBeUndefined();
    file("token", "sa-token");
    file("ca.crt", "CA");
    file("namespace", "capstan-system");
    const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    const inside = await inClusterConfig({ clock, environment, directory: dir });
    expect(inside).toMatchObject({
      server: "https://[fd00::1]:443",
      namespace: "capstan-system",
      tls: { caPem: "CA" },
    });
    expect((await inside?.credentials?.get())?.token).toBe("sa-token");
    // Without any kubeconfig that is what is used.
    const found = await loadKubeconfig({ clock, environment, home: join(dir, "nohome"), serviceAccountDir: dir });
    expect(found.server).toBe("https://[fd00::1]:443");
    // Tokens of service accounts are replaced every hour.
    file("token", "next-token");
    await clock.advance(60_000);
    expect((await inside?.credentials?.get())?.token).toBe("next-token");
    await expect(inClusterConfig({ clock, environment, directory: join(dir, "none") })).rejects.toThrow(
      /looks like a pod, but .*token cannot be read: mount its service account/,
    );
  });
});
