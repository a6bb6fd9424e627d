import { formatAge, systemClock, systemRandom } from "@capstan/apimachinery";
import { hostTrouble } from "@capstan/capi";
import { ByoHost, enrolmentLine, hostRights, offerEnrolment } from "@capstan/host-agent";
import { type CommandInput, UserError } from "../command.ts";
import { clockOf } from "../context/api-target.ts";
import { withTarget } from "../context/with-cluster.ts";
import { enrolOverSsh } from "../host-ssh.ts";
import { renderTable } from "../output/table.ts";
import { providersOf } from "../providers.ts";

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Runs `capstan host add`: creates the ByoHost and an enrolment token, then prints the agent's command line or runs it over SSH. */
export function runHostAdd(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const [name = ""] = input.arguments;
    const { options, io } = input;
    const namespace = String(options["namespace"] ?? "default");
    if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
      throw new UserError(`${JSON.stringify(name)} is not a host name of lower-case letters, digits and dashes`, {
        exitCode: 2,
      });
    const { ssh, sshArgs, agent } = options;
    if (typeof ssh === "string") io.err(`In ${target.description}\n`);
    const deps = { clock: systemClock, random: systemRandom };
    const labels = parseLabels(options["labels"]);
    const token = await offerEnrolment(target.client, { namespace, name, labels }, deps);
    const server = typeof options["server"] === "string" ? options["server"] : target.server;
    const line = enrolmentLine({ server, caPem: target.caPem, namespace, name, token });
    if (options["server"] === undefined && LOOPBACK.test(new URL(server).hostname))
      io.err(
        `warning: ${server} is an address of this machine alone: hosts elsewhere cannot reach it; start with: capstan up --listen ADDRESS:6446 --node-address ADDRESS, or name an address that leads here: --server URL\n`,
      );
    if (typeof ssh === "string") {
      await enrolOverSsh({
        target: ssh,
        args: typeof sshArgs === "string" ? sshArgs.split(/\s+/).filter(Boolean) : [],
        agent: typeof agent === "string" ? agent : undefined,
        line,
        io,
      });
      io.out(`host ${namespace}/${name} enrolled over ${ssh}\n`);
      return 0;
    }
    io.err(
      `Host ${namespace}/${name} is registered in ${target.description}. Run on the host, as root (with Node: node capstan-host-agent.cjs …):\n\n`,
    );
    io.out(`./capstan-host-agent --service --enrol ${line}\n`);
    return 0;
  });
}

function parseLabels(text: string | boolean | undefined): Record<string, string> {
  if (typeof text !== "string") return {};
  return Object.fromEntries(
    text.split(",").map((pair) => {
      const [key, value, ...rest] = pair.split("=");
      if (key === undefined || key === "" || value === undefined || rest.length > 0)
        throw new UserError(`--labels ${text}: ${JSON.stringify(pair)} is not KEY=VALUE`, { exitCode: 2 });
      return [key, value];
    }),
  );
}

/** Runs `capstan host list`: prints the ByoHosts of a namespace with their readiness, last heartbeat and Machine. */
export function runHostList(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const { items } = await target.client.list(ByoHost, {
      namespace: String(input.options["namespace"] ?? "default"),
    });
    if (items.length === 0) {
      input.io.err("No hosts. Enrol one with: capstan host add NAME\n");
      return 0;
    }
    const nowMs = clockOf(input).now();
    const context = { nowMs, providers: await providersOf(input) };
    const rows = items.map((host) => {
      const condition = (type: string) => host.status?.conditions?.find((each) => each.type === type);
      // The last report of an agent no longer holds once the agent is silent.
      const ready = hostTrouble({ ...host, kind: ByoHost.kind }, context) ?? condition("Ready");
      const others = [condition("MachineIDUnique"), condition("ClockInSync")];
      const trouble = ready?.status === "True" ? others.find((each) => each?.status === "False") : ready;
      const heard = host.status?.lastHeartbeatTime;
      const address = host.status?.network?.find((device) => device.isDefault === true)?.ipAddrs?.[0] ?? "";
      return [
        host.metadata.name ?? "",
        ready?.status ?? "Unknown",
        trouble?.reason ?? "",
        heard === undefined ? "never" : `${formatAge(Math.max(0, nowMs - Date.parse(heard)))} ago`,
        host.spec?.machineRef?.name ?? "",
        address,
        host.status?.hostinfo?.osimage ?? "",
      ];
    });
    input.io.out(`${renderTable(["NAME", "READY", "REASON", "LAST HEARD", "MACHINE", "ADDRESS", "OS"], rows)}\n`);
    return 0;
  });
}

/** Runs `capstan host remove`: deletes a ByoHost that no Machine uses; a host that still carries a node is cleaned first. */
export function runHostRemove(input: CommandInput): Promise<number> {
  return withTarget(input, async (target) => {
    const [name = ""] = input.arguments;
    const namespace = String(input.options["namespace"] ?? "default");
    const host = await target.client.get(ByoHost, { namespace, name });
    if (host === undefined)
      throw new UserError(`host ${namespace}/${name} not found`, { hint: "list all with: capstan host list" });
    if (host.spec?.machineRef !== undefined)
      throw new UserError(`host ${name} is in use by machine ${host.spec.machineRef.name}`, {
        hint: "delete or scale down its machines first",
      });
    input.io.err(`In ${target.description}\n`);
    await target.client.delete(host);
    if ((await target.client.get(ByoHost, { namespace, name })) !== undefined) {
      input.io.out(`host ${namespace}/${name} is being cleaned, and is removed when that is done\n`);
      return 0;
    }
    for (const right of hostRights(host, [])) await target.client.delete(right);
    input.io.out(`host ${namespace}/${name} removed\n`);
    return 0;
  });
}
