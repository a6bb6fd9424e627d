import type { Clock, Random } from "@capstan/apimachinery";
import { vmPaths } from "../arguments/paths.ts";
import { GuestAgent } from "../sockets/guest-agent.ts";
import { Qmp, type QmpState } from "../sockets/qmp.ts";
import type { QmpEvent } from "../sockets/qmp-events.ts";
import { VmControl } from "../sockets/vm-control.ts";

/** The sockets of one running QEMU: its single QMP client, and the guest agent. */
export class VmConnection {
  readonly agent: GuestAgent;
  readonly control: VmControl;
  readonly #qmp: Qmp;
  #closed = false;

  constructor(
    directory: string,
    { clock, random }: { clock: Clock; random: Random },
    on: { event: (event: QmpEvent) => void; state: (state: QmpState) => void },
  ) {
    const paths = vmPaths(directory);
    this.agent = new GuestAgent({ path: paths.guestAgent, clock, random });
    this.#qmp = new Qmp({ path: paths.qmp, clock, onEvent: on.event, onState: on.state });
    this.control = new VmControl(this.#qmp);
  }

  get state(): QmpState {
    return this.#qmp.state;
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
    this.#qmp.close();
    this.agent.close();
  }
}
