import type { Writable } from "node:stream";
import type { Logger as Pino } from "pino";
import type { LogFields, Logger } from "./logger.ts";
import { redact, redactText } from "./redact.ts";

/** How to log. */
export interface LoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | "silent" | undefined;
  /** Standard error unless told otherwise. */
  readonly destination?: Writable | undefined;
}

/** A logger that writes JSON lines with pino, without secrets. pino is loaded here and not before. */
export async function createLogger(options: LoggerOptions = {}): Promise<Logger> {
  const { pino } = await import("pino");
  const settings = { level: options.level ?? "info", base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return wrap(pino(settings, options.destination ?? process.stderr));
}

function wrap(target: Pino): Logger {
  const write =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields?: LogFields): void => {
      if (!target.isLevelEnabled(level)) return;
      if (fields === undefined) target[level](redactText(message));
      else target[level](redact(fields) as object, redactText(message));
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => wrap(target.child(redact(fields) as Record<string, unknown>)),
  };
}
