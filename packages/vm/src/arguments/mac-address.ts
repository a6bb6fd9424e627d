import { createHash } from "node:crypto";

/**
 * The address of a machine's network device, the same at every start: a guest's network configuration matches by it. Forty bits of the
 * identity, so that collisions do not occur in practice; 0x52 marks it as locally administered and for one receiver.
 */
export function macAddress(uuid: string, index: number): string {
  const digest = createHash("sha256").update(`${uuid.toLowerCase()}/${index}`).digest();
  return ["52", ...[...digest.subarray(0, 5)].map((byte) => byte.toString(16).padStart(2, "0"))].join(":");
}
