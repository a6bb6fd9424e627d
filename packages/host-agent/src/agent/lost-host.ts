import { type Clock, isReason } from "@capstan/apimachinery";
import type { Client, Logger } from "@capstan/runtime";
import { ByoHost } from "../kinds/byo-host.ts";
import { GIVEN_UP_REASON } from "../protocol.ts";
import { Refused } from "./identity.ts";

const LOOK_MS = { first: 60_000, last: 10 * 60_000 };

/** What watching for the loss of a ByoHost needs. */
export interface LostHostOptions {
  namespace: string;
  name: string;
  client: Client;
  clock: Clock;
  log: Logger;
  /** Whether a node may be on this host. */
  hasNode: () => boolean;
  /** Requests a certificate, which a host without any permissions may still do. */
  ask: () => Promise<void>;
  /** Removes the node; returns what failed. */
  clean: () => Promise<string | undefined>;
}

/**
 * Checks periodically whether the ByoHost of this host still exists. If it was deleted while the agent was offline, the agent requests a
 * certificate, and cleans the host only when the denial says that the host was given up.
 */
export function watchForLoss(options: LostHostOptions, signal: AbortSignal): void {
  const { clock } = options;
  let waitMs = LOOK_MS.first;
  const later = (): void => {
    const cancel = clock.after(waitMs, () => {
      signal.removeEventListener("abort", cancel);
      if (signal.aborted) return;
      void look(options).then((isLost) => {
        waitMs = isLost ? Math.min(waitMs * 2, LOOK_MS.last) : LOOK_MS.first;
        later();
      });
    });
    signal.addEventListener("abort", cancel, { once: true });
  };
  later();
}

/** Returns whether the API rejects or does not know this host. */
async function look(options: LostHostOptions): Promise<boolean> {
  const { client, namespace, name, log } = options;
  if (!options.hasNode()) return false;
  try {
    if ((await client.get(ByoHost, { namespace, name })) !== undefined) return false;
  } catch (error) {
    // A lost connection says nothing about the host.
    if (!isReason(error, "Forbidden", "Unauthorized", "NotFound")) return false;
  }
  try {
    await options.ask();
    return false;
  } catch (error) {
    if (!(error instanceof Refused && error.reason === GIVEN_UP_REASON)) {
      log.warn("the management API does not accept this host any more", { error });
      return true;
    }
    log.info("this host was abandoned while it was unreachable: removing its node");
    const problem = await options.clean();
    if (problem !== undefined) log.warn("failed to clean the host; retrying", { problem });
    else log.info("the host is clean; to use it again run the command that capstan host add prints");
  }
  return true;
}
