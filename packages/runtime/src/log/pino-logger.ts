import type { Writable } from "node:stream";
import type { Logger as Pino } from "pino";
import type { LogFields, Logger } from "./logger.ts";
import { redact, redactText } from "./redact.ts";

/** Settings of a logger. */
export interface LoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | "silent" | undefined;
  /** Standard error by default. */
  readonly destination?: Writable | undefined;
}

/** Creates a logger that writes JSON lines without secrets. It loads pino on first use. */
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
