import type { Clock, Random } from "@capstan/apimachinery";
import type { ResourceRegistry } from "../types.ts";

/** Dependencies of the server's own controllers, in addition to its InternalApi. */
export interface ControllerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: ResourceRegistry;
  log(message: string, error: unknown): void;
  /** Certificate authority of the API's endpoint, published in every namespace; nothing is published without. */
  readonly rootCaPem?: string;
}

/** A running controller. */
export interface Controller {
  stop(): void;
  /** Whether it has nothing to do and waits for nothing but changes. */
  idle(): boolean;
}
