import { formatTime } from "@capstan/apimachinery";
import { ByoHost } from "@capstan/host-agent";
import { type Controller, controller, done, type ReconcileContext, type Result, requeueAfter } from "@capstan/runtime";
import type { Hosts } from "./hosts.ts";
import { ByoMachine } from "./kinds/byo-machine.ts";

/** A restore or a move may bring hosts before their machines: only later is a machine that is missing taken for gone. */
const ORPHAN_MS = 5 * 60_000;

/** Looks after hosts that no machine looks after: those given up while their agent was away, and those of lost machines. */
export function byoHostController(hosts: Hosts): Controller {
  const orphanSince = new Map<string, number>();
  return controller("byo-host")
    .for(ByoHost)
    .watches(ByoMachine, (machine) => hosts.allOf(machine), { predicate: { create: () => false, update: () => false } })
    .reconcile(async (request, context) => {
      const host = context.cache.get(ByoHost, request);
      const key = host?.metadata.uid ?? "";
      const since = orphanSince.get(key);
      orphanSince.delete(key);
      if (host?.spec === undefined) return done();
      if (host.spec.machineRef === undefined) return await freeWhenClean(host, hosts, context.signal);
      const claim = await stateOfClaim(host, hosts, context);
      const now = context.clock.now();
      if (claim === "good") return done();
      if (claim === "orphan" && (since === undefined || now - since < ORPHAN_MS)) {
        orphanSince.set(key, since ?? now);
        return requeueAfter(ORPHAN_MS - (now - (since ?? now)));
      }
      await hosts.takeBack(host, host.spec.machineRef.uid, formatTime(now), context.signal);
      return done();
    });
}

async function freeWhenClean(host: ByoHost, hosts: Hosts, signal: AbortSignal): Promise<Result> {
  const release = host.spec?.release;
  const { machineUID, phase } = host.status?.release ?? {};
  if (release !== undefined && machineUID === release.machineUID && phase === "Released")
    await hosts.letGo(host, true, signal);
  return done();
}

/** Whether the machine that claimed a host is there and uses it. */
async function stateOfClaim(
  host: ByoHost,
  hosts: Hosts,
  context: ReconcileContext,
): Promise<"good" | "orphan" | "surplus"> {
  const reference = host.spec?.machineRef;
  const isIt = (machine: ByoMachine | undefined): machine is ByoMachine =>
    machine !== undefined &&
    // A moved machine has another UID but the same identity.
    (machine.metadata.uid === reference?.uid || machine.spec?.providerID === host.spec?.providerID);
  const key = { namespace: reference?.namespace, name: reference?.name ?? "" };
  const cached = context.cache.get(ByoMachine, key);
  const machine = isIt(cached) ? cached : await context.client.get(ByoMachine, key, context.signal);
  if (!isIt(machine)) return "orphan";
  const own = hosts.of(machine);
  return own === undefined || own.metadata.name === host.metadata.name ? "good" : "surplus";
}
