import { parseDuration } from "@capstan/apimachinery";
import { usageError } from "./command.ts";

/** Parses a duration: `90s`, `10m`, `1h30m`, or plain seconds. */
export function durationMs(option: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  try {
    return parseDuration(text);
  } catch {
    throw usageError(`${option} ${text} is not a duration`, "e.g. 90s, 10m or 1h30m");
  }
}
