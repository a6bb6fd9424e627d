import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { freePorts, mustRun } from "../../real-kubernetes/index.ts";
import { pythonPrograms } from "./python.ts";
import { eventually } from "./timing.ts";

const SUSHY_TOOLS = "2.2.0";

/** A machine behind the emulator. */
export interface BmcSystem {
  readonly uuid: string;
  readonly name: string;
  readonly mac: string;
}

/** A machine as the emulator tells of it after every change. */
export interface SystemState {
  readonly uuid: string;
  readonly power_state: "On" | "Off";
  readonly boot_device?: string;
  /** Drive -> file that the emulator downloaded, write protected, inserted. */
  readonly boot_image?: Readonly<Record<string, readonly [string | null, boolean, boolean]>>;
}

export interface BmcOptions {
  /** Folder for configuration, state and logs. */
  readonly dir: string;
  readonly address: string;
  readonly systems: readonly BmcSystem[];
  /** Virtual drives; a CD for the image and a stick for the config drive unless said otherwise. */
  readonly drives?: Readonly<Record<string, { Name: string; MediaTypes: readonly string[] }>>;
  /** Called after every change of a machine. */
  readonly changed?: (state: SystemState) => void;
}

export const BMC_USER = { username: "admin", password: "correct horse" };

const DRIVES = {
  Cd: { Name: "Virtual CD", MediaTypes: ["CD", "DVD"] },
  Usb: { Name: "Virtual stick", MediaTypes: ["USBStick"] },
};

/** sushy-emulator with TLS and credentials: a management controller of another hand. */
export class Bmc {
  readonly #options: BmcOptions;
  readonly #emulator: ChildProcess;
  readonly #listener: Server;
  readonly port: number;

  private constructor(options: BmcOptions, emulator: ChildProcess, listener: Server, port: number) {
    this.#options = options;
    this.#emulator = emulator;
    this.#listener = listener;
    this.port = port;
  }

  static async start(options: BmcOptions): Promise<Bmc> {
    const home = await pythonPrograms(`sushy-tools-${SUSHY_TOOLS}`, [`sushy-tools==${SUSHY_TOOLS}`]);
    mkdirSync(options.dir, { recursive: true });
    const listener = await notifications((state) => options.changed?.(state));
    const [port = 0] = await freePorts(1);
    await writeConfiguration(options, home, port, (listener.address() as AddressInfo).port);
    const log = openSync(join(options.dir, "emulator.log"), "a");
    const emulator = spawn(join(home, "bin/sushy-emulator"), ["--config", join(options.dir, "emulator.conf")], {
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    const bmc = new Bmc(options, emulator, listener, port);
    try {
      await eventually("sushy-emulator", () => bmc.#answers(), { timeout: 30_000 });
      return bmc;
    } catch (error) {
      await bmc.close();
      throw new Error(`${String(error)}\n${bmc.log()}`);
    }
  }

  /** The certificate that its TLS is verified with. */
  get caPem(): string {
    return readFileSync(join(this.#options.dir, "tls.crt"), "utf8");
  }

  /** `spec.bmc.address` of a machine. */
  addressOf(system: BmcSystem, scheme = "redfish-virtualmedia"): string {
    return `${scheme}://${this.#options.address}:${this.port}/redfish/v1/Systems/${system.uuid}`;
  }

  log(): string {
    return readFileSync(join(this.#options.dir, "emulator.log"), "utf8");
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#emulator.once("exit", resolve));
    if (this.#emulator.exitCode === null && this.#emulator.signalCode === null) {
      this.#emulator.kill("SIGKILL");
      await gone;
    }
    this.#listener.closeAllConnections();
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const options = { host: this.#options.address, port: this.port, path: "/redfish/v1/", ca: this.caPem };
      const call = request(options, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      call.on("error", reject);
      call.end();
    });
  }
}

async function writeConfiguration(
  options: BmcOptions,
  home: string,
  port: number,
  listenerPort: number,
): Promise<void> {
  const { dir, address } = options;
  const file = (name: string): string => join(dir, name);
  const keys = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file("tls.key")];
  const names = ["-subj", "/CN=bmc", "-addext", `subjectAltName=IP:${address}`];
  await mustRun("openssl", ["req", "-x509", "-days", "2", ...keys, ...names, "-out", file("tls.crt")]);
  const hash = "import bcrypt,sys; print(bcrypt.hashpw(sys.stdin.buffer.read(), bcrypt.gensalt(4)).decode())";
  const password = await mustRun(join(home, "bin/python"), ["-c", hash], { input: BMC_USER.password });
  writeFileSync(file("htpasswd"), `${BMC_USER.username}:${password.trim()}\n`, { mode: 0o600 });
  const systems = options.systems.map(({ uuid, name, mac }) => ({
    uuid,
    name,
    power_state: "Off",
    external_notifier: true,
    nics: [{ mac, ip: "" }],
  }));
  const values: Record<string, unknown> = {
    SUSHY_EMULATOR_LISTEN_IP: address,
    SUSHY_EMULATOR_LISTEN_PORT: port,
    SUSHY_EMULATOR_SSL_CERT: file("tls.crt"),
    SUSHY_EMULATOR_SSL_KEY: file("tls.key"),
    SUSHY_EMULATOR_AUTH_FILE: file("htpasswd"),
    SUSHY_EMULATOR_STATE_DIR: dir,
    SUSHY_EMULATOR_FAKE_DRIVER: true,
    SUSHY_EMULATOR_FAKE_SYSTEMS: systems,
    SUSHY_EMULATOR_VMEDIA_DEVICES: options.drives ?? DRIVES,
    EXTERNAL_NOTIFICATION_URL: `http://127.0.0.1:${listenerPort}`,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${python(value)}\n`);
  writeFileSync(file("emulator.conf"), lines.join(""));
}

/** JSON that Python reads as well. */
function python(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll(/\btrue\b/g, "True")
    .replaceAll(/\bfalse\b/g, "False");
}

async function notifications(changed: (state: SystemState) => void): Promise<Server> {
  const server = createServer((message, response) => {
    void bodyOf(message).then((text) => {
      response.writeHead(200).end();
      changed(JSON.parse(text) as SystemState);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of message) text += String(chunk);
  return text;
}
