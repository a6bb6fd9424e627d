import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type Clock, isObject } from "@capstan/apimachinery";
import { type DialGate, withinTime } from "@capstan/apimachinery/foreign";
import {
  addFiles,
  bytesContent,
  configDrive,
  configDriveFiles,
  type MediaContent,
  type MediaServer,
} from "@capstan/media";
import type { BareMetalHostSpec } from "../../kinds/bare-metal-host-spec.ts";
import type { HardwareDetails } from "../../kinds/hardware-details.ts";
import { parseBmcAddress } from "../bmc-address.ts";
import type { ImageChecks } from "../image-check.ts";
import { InFlight } from "../in-flight.ts";
import {
  failure,
  finished,
  type HostIdentity,
  type PowerOffMode,
  type PowerReport,
  type Provisioner,
  type ProvisionRequest,
  type StepResult,
  working,
} from "../provisioner.ts";
import { setBoot } from "./boot.ts";
import { linkOf, RedfishClient, type Resource } from "./client.ts";
import { failureOf, RedfishError } from "./errors.ts";
import { inventory } from "./inventory.ts";
import { healthOf, type PowerWish, powerStateOf, reset } from "./power.ts";
import { chooseDrives, eject, imageIn, insert, isSecure, virtualMedia } from "./virtual-media.ts";

/** Dependencies of the Redfish driver. */
export interface RedfishOptions {
  readonly clock: Clock;
  /** Decides which addresses of management controllers may be dialled. */
  readonly gate: DialGate;
  readonly media: Pick<MediaServer, "publish" | "renew" | "withdraw" | "canSecure">;
  /** Reads an image in ranges. */
  readonly open: (url: string, signal: AbortSignal) => Promise<MediaContent>;
  readonly images: Pick<ImageChecks, "check">;
  /** Concurrent requests; by default 2 per management controller and 64 in total. */
  readonly limits?: { readonly perKey: number; readonly total: number };
}

const POLL_MS = 2_000;
/** For the folders of an image, some dozens of kilobytes: who reads them does nothing else meanwhile. */
const COMBINE_MS = 2 * 60_000;
/** A reset without effect is requested again after this long. */
const ASK_AGAIN_MS = 60_000;

/** Provisions machines with Redfish only: boots a live ISO and a config drive from virtual media. */
export class RedfishDriver implements Provisioner {
  readonly inFlight: InFlight;
  readonly #options: RedfishOptions;
  readonly #clients = new Map<string, RedfishClient>();
  readonly #combined = new Map<string, { text: string; content: MediaContent }>();
  readonly #asked = new Map<string, { wish: string; type: string; atMs: number }>();

  constructor(options: RedfishOptions) {
    this.#options = options;
    this.inFlight = new InFlight(options.limits ?? { perKey: 2, total: 64 });
  }

  async register(host: HostIdentity, signal: AbortSignal): Promise<StepResult<{ id: string }>> {
    return await this.#with(host, signal, async (client) =>
      finished({ id: String((await this.#system(client, host, signal))["@odata.id"]) }),
    );
  }

  async inspect(host: HostIdentity, signal: AbortSignal): Promise<StepResult<HardwareDetails>> {
    return await this.#with(host, signal, async (client) =>
      finished(await inventory(client, await this.#system(client, host, signal), signal)),
    );
  }

  async power(host: HostIdentity, signal: AbortSignal): Promise<StepResult<PowerReport>> {
    return await this.#with<PowerReport>(host, signal, async (client) => {
      const system = await this.#system(client, host, signal);
      const state = powerStateOf(system);
      const health = healthOf(system);
      // A live system keeps reading its CD. A config drive is read when the system starts, and its URL expires afterwards.
      if (state !== "Off" && this.#combined.has(keyOf(host))) this.#options.media.renew(keyOf(host));
      return finished({ on: state === "On" || state === "PoweringOff", health });
    });
  }

  async powerOn(host: HostIdentity, signal: AbortSignal): Promise<StepResult> {
    this.#options.media.renew(keyOf(host));
    return await this.#with(host, signal, (client) => this.#setPower(client, host, { to: "on" }, signal));
  }

  async powerOff(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult> {
    return await this.#with(host, signal, (client) => this.#setPower(client, host, { to: "off", mode }, signal));
  }

  async reboot(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult> {
    this.#options.media.renew(keyOf(host));
    return await this.#with(host, signal, async (client) => {
      await reset(client, await this.#system(client, host, signal), { to: "restart", mode }, signal);
      return finished();
    });
  }

  async prepare(_host: HostIdentity, spec: BareMetalHostSpec): Promise<StepResult> {
    const volumes = [...(spec.raid?.hardwareRAIDVolumes ?? []), ...(spec.raid?.softwareRAIDVolumes ?? [])];
    return volumes.length === 0
      ? finished()
      : failure("spec.raid: this driver does not create RAID volumes: remove the field and create them manually", {
          fatal: true,
        });
  }

  async provision(host: HostIdentity, request: ProvisionRequest, signal: AbortSignal): Promise<StepResult> {
    const { image } = request;
    if (image === undefined || image.format !== "live-iso")
      return failure(
        `spec.image.format is ${image?.format ?? "not set"}: this driver boots live-iso images only; set spec.image.format to live-iso and spec.image.url to such an image`,
        { fatal: true },
      );
    const checked = this.#options.images.check(image, signal);
    if (checked.type !== "done") return checked;
    return await this.#with(host, signal, async (client) => {
      const system = await this.#system(client, host, signal);
      const inserted = await this.#insertMedia(client, system, host, request, image.url, signal);
      if (inserted.type !== "done") return inserted;
      if (powerStateOf(system) === "Off" || inserted.value) await setBoot(client, system, "cd", host.bootMode, signal);
      return await this.#setPower(client, host, { to: "on" }, signal);
    });
  }

  async deprovision(host: HostIdentity, _cleaning: unknown, signal: AbortSignal): Promise<StepResult> {
    return await this.#with(host, signal, async (client) => {
      const off = await this.#setPower(client, host, { to: "off", mode: "hard" }, signal);
      if (off.type !== "done") return off;
      const system = await this.#system(client, host, signal);
      const { image, config } = chooseDrives(await virtualMedia(client, system, signal));
      for (const drive of [image, config]) if (drive !== undefined) await eject(client, drive, signal);
      await setBoot(client, system, "disk", host.bootMode, signal);
      this.#forgetMedia(host);
      return finished();
    });
  }

  /** The machine runs. What it may still read from its virtual drives is served again, under the same address. */
  async adopt(host: HostIdentity, request: ProvisionRequest | undefined, signal: AbortSignal): Promise<StepResult> {
    return await this.#with(host, signal, async (client) => {
      const system = await this.#system(client, host, signal);
      const url = request?.image?.format === "live-iso" ? request.image.url : undefined;
      const { image, config } = url === undefined ? {} : chooseDrives(await virtualMedia(client, system, signal));
      if (request !== undefined && url !== undefined && image !== undefined)
        await this.#contents(host, request, url, wantsConfigDrive(request), { image, config }, signal);
      return finished();
    });
  }

  async release(host: HostIdentity, signal: AbortSignal): Promise<StepResult> {
    this.#forgetMedia(host);
    this.#asked.delete(keyOf(host));
    const client = this.#clients.get(keyOf(host));
    this.#clients.delete(keyOf(host));
    await client?.close(signal);
    return finished();
  }

  #forgetMedia(host: HostIdentity): void {
    this.#options.media.withdraw(keyOf(host));
    this.#combined.delete(keyOf(host));
  }

  /** Closes all sessions. */
  async close(signal: AbortSignal): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(clients.map((client) => client.close(signal)));
  }

  /** Puts image and config drive into the drives while the machine is off; the value says whether anything changed. */
  async #insertMedia(
    client: RedfishClient,
    system: Resource,
    host: HostIdentity,
    request: ProvisionRequest,
    url: string,
    signal: AbortSignal,
  ): Promise<StepResult<boolean>> {
    const all = await virtualMedia(client, system, signal);
    const { image, config } = chooseDrives(all);
    if (image === undefined)
      return failure(
        `The management controller offers no virtual CD (${all.length} virtual drives): it cannot boot a live ISO`,
        { fatal: true },
      );
    const wanted: [Resource, string][] = await this.#contents(
      host,
      request,
      url,
      wantsConfigDrive(request),
      { image, config },
      signal,
    );
    const missing = wanted.filter(([drive, content]) => imageIn(drive) !== content);
    if (missing.length === 0) return finished(false);
    const off = await this.#setPower(client, host, { to: "off", mode: "hard" }, signal);
    if (off.type !== "done") return off;
    for (const [drive, content] of missing)
      await insert(client, drive, { url: content, isOwn: content !== url }, signal);
    return finished(true);
  }

  /** What goes into which drive. With one drive only, the image is served with the files of the config drive in it. */
  async #contents(
    host: HostIdentity,
    request: ProvisionRequest,
    url: string,
    wantsConfig: boolean,
    { image, config }: { image: Resource; config: Resource | undefined },
    signal: AbortSignal,
  ): Promise<[Resource, string][]> {
    if (!wantsConfig) return [[image, url]];
    const { media } = this.#options;
    const publish = async (drive: Resource, content: MediaContent): Promise<string> => {
      const secure = media.canSecure && isSecure(drive, host.annotations);
      return await media.publish(keyOf(host), content, await addressesOf(host), secure);
    };
    // Bytes that depend on the content alone, so that the same content keeps its address.
    if (config !== undefined)
      return [
        [image, url],
        [config, await publish(config, bytesContent(configDrive(request.configDrive, 0)))],
      ];
    const text = JSON.stringify([url, request.configDrive]);
    const known = this.#combined.get(keyOf(host));
    const content = known?.text === text ? known.content : await this.#combine(url, request, signal);
    this.#combined.set(keyOf(host), { text, content });
    return [[image, await publish(image, content)]];
  }

  async #combine(url: string, request: ProvisionRequest, signal: AbortSignal): Promise<MediaContent> {
    try {
      const limit = { clock: this.#options.clock, ms: COMBINE_MS, what: `GET ${url}`, signal };
      return await withinTime(limit, async (limited) =>
        addFiles(await this.#options.open(url, limited), configDriveFiles(request.configDrive), limited),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      throw new RedfishError(
        `The config drive cannot be put into the image ${url}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async #setPower(
    client: RedfishClient,
    host: HostIdentity,
    wish: PowerWish & { to: "on" | "off" },
    signal: AbortSignal,
  ): Promise<StepResult> {
    const system = await this.#system(client, host, signal);
    const state = powerStateOf(system);
    const key = keyOf(host);
    if (state === (wish.to === "on" ? "On" : "Off")) {
      this.#asked.delete(key);
      return finished();
    }
    const now = this.#options.clock.monotonic();
    const text = JSON.stringify(wish);
    const before = this.#asked.get(key);
    const pending = before !== undefined && before.wish === text && now - before.atMs < ASK_AGAIN_MS;
    const asked = pending ? before : { wish: text, type: await reset(client, system, wish, signal), atMs: now };
    this.#asked.set(key, asked);
    return working(`Reset ${asked.type} was accepted, but PowerState is still ${state}`, POLL_MS);
  }

  /** The system of the address, or the only one there is. */
  async #system(client: RedfishClient, host: HostIdentity, signal: AbortSignal): Promise<Resource> {
    const { path } = parseBmcAddress(host.address);
    if (path !== "") {
      const system = await client.get(path, signal);
      if (typeof system["@odata.id"] !== "string")
        throw new RedfishError(
          `GET ${path}: the answer is not a Redfish resource: correct the path in spec.bmc.address`,
        );
      return system;
    }
    const systems = await client.get("/redfish/v1/Systems", signal);
    const members = Array.isArray(systems["Members"]) ? systems["Members"] : [];
    const only = members.length === 1 && isObject(members[0]) ? linkOf(members[0]) : undefined;
    if (only === undefined)
      throw new RedfishError(
        `The management controller has ${members.length} systems: put the path of one into spec.bmc.address, e.g. /redfish/v1/Systems/1`,
      );
    return await client.get(only, signal);
  }

  async #with<T>(
    host: HostIdentity,
    signal: AbortSignal,
    use: (client: RedfishClient) => Promise<StepResult<T>>,
  ): Promise<StepResult<T>> {
    try {
      const client = await this.#client(host, signal);
      client.begin();
      return await use(client);
    } catch (error) {
      return failureOf(error);
    }
  }

  async #client(host: HostIdentity, signal: AbortSignal): Promise<RedfishClient> {
    const known = this.#clients.get(keyOf(host));
    if (known?.fits(host) === true) return known;
    const client = new RedfishClient(host, {
      clock: this.#options.clock,
      inFlight: this.inFlight,
      gate: this.#options.gate,
    });
    this.#clients.set(keyOf(host), client);
    await known?.close(signal);
    return client;
  }
}

function wantsConfigDrive({ configDrive: { userData, networkData } }: ProvisionRequest): boolean {
  return userData !== undefined || networkData !== undefined;
}

function keyOf({ namespace, name }: HostIdentity): string {
  return `${namespace}/${name}`;
}

/** The addresses of a management controller: only they may fetch its media. */
async function addressesOf(host: HostIdentity): Promise<string[]> {
  const { host: name } = parseBmcAddress(host.address);
  if (isIP(name) !== 0) return [name];
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw new RedfishError(
      `The name ${name} of spec.bmc.address cannot be resolved: ${error instanceof Error ? error.message : String(error)}`,
      { access: "unreachable" },
    );
  }
}
