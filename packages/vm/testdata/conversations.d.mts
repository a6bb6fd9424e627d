import type { GuestAgent, Qmp, QmpEvent, VmControl } from "../src/index.ts";

/** Waits for an event of a kind that has not been waited for yet. */
export type NextEvent = (type: QmpEvent["type"]) => Promise<QmpEvent>;

export declare const BOOT_SECTOR: Buffer;
export declare function talkToQemu(qmp: Qmp, control: VmControl, next: NextEvent): Promise<unknown[]>;
export declare function talkToAgent(agent: GuestAgent): Promise<unknown[]>;
