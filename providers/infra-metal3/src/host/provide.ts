import type { Clock, Random } from "@capstan/apimachinery";
import type { Cache, Controller } from "@capstan/runtime";
import { bareMetalHostController } from "./controller.ts";
import { BmcSecrets } from "./credentials.ts";
import { addHostIndexes } from "./hosts.ts";
import type { HostDeps } from "./reconcile.ts";
import { DEFAULT_LIMITS, type HostLimits } from "./step.ts";
import { UpstreamOperator } from "./upstream.ts";

/** Dependencies and settings of the BareMetalHost controller. */
export interface BareMetalHostsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly drivers: HostDeps["drivers"];
  readonly limits?: Partial<HostLimits>;
}

/** Creates the host half of the provider. It does not touch hosts that upstream's baremetal-operator manages. */
export function bareMetalHosts(options: BareMetalHostsOptions): {
  addIndexes(cache: Cache): void;
  controllers(): Controller[];
} {
  const { clock, random, drivers } = options;
  const secrets = new BmcSecrets({ clock, random });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return {
    addIndexes: (cache) => {
      addHostIndexes(cache);
      secrets.bind(cache.client.withFieldManager("capstan-baremetalhost"));
    },
    controllers: () => [bareMetalHostController({ drivers, secrets, limits, upstream: new UpstreamOperator(clock) })],
  };
}
