import { isObject, type JsonObject } from "@capstan/apimachinery";
import { AGENT_PORT_ID } from "../arguments/paths.ts";

/** What QEMU reports without being asked. */
export type QmpEvent = { atMs: number } & (
  | { type: "shutdown"; byGuest: boolean; reason: string }
  | { type: "powerDownRequested" }
  | { type: "reset"; byGuest: boolean }
  | { type: "stopped" }
  | { type: "resumed" }
  | { type: "guestPanicked" }
  | { type: "diskError"; disk: string; operation: string; noSpace: boolean; reason: string }
  /** The agent in the guest has started to listen, or no longer does. */
  | { type: "agent"; listening: boolean }
  | { type: "memory"; bytes: number }
  | { type: "other"; name: string }
);

/** An event as QEMU sends it. */
export function readEvent(message: JsonObject): QmpEvent {
  const name = text(message["event"]);
  const data = isObject(message["data"]) ? message["data"] : {};
  const { seconds, microseconds } = isObject(message["timestamp"]) ? message["timestamp"] : ({} as JsonObject);
  const atMs = Math.floor(number(seconds) * 1000 + number(microseconds) / 1000);
  switch (name) {
    case "SHUTDOWN":
      return { atMs, type: "shutdown", byGuest: data["guest"] === true, reason: text(data["reason"]) };
    case "POWERDOWN":
      return { atMs, type: "powerDownRequested" };
    case "RESET":
      return { atMs, type: "reset", byGuest: data["guest"] === true };
    case "STOP":
      return { atMs, type: "stopped" };
    case "RESUME":
      return { atMs, type: "resumed" };
    case "GUEST_PANICKED":
      return { atMs, type: "guestPanicked" };
    case "BLOCK_IO_ERROR":
      return {
        atMs,
        type: "diskError",
        disk: text(data["node-name"]),
        operation: text(data["operation"]),
        noSpace: data["nospace"] === true,
        reason: text(data["reason"]),
      };
    case "VSERPORT_CHANGE":
      if (data["id"] !== AGENT_PORT_ID) return { atMs, type: "other", name };
      return { atMs, type: "agent", listening: data["open"] === true };
    case "BALLOON_CHANGE":
      return { atMs, type: "memory", bytes: number(data["actual"]) };
    default:
      return { atMs, type: "other", name };
  }
}

const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : "");
const number = (value: unknown): number => (typeof value === "number" ? value : 0);
