import type { CommandIo } from "./command.ts";

/** How long an interrupted command may take to report its state. */
const FAREWELL_MS = 2000;

/** Returns the I/O of this process: its standard streams, terminal and signals. */
export function processIo(): CommandIo {
  const { stdout, stderr, env } = process;
  const plain = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "";
  const forced = env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "" && env["FORCE_COLOR"] !== "0";
  const colors = (isTerminal: boolean): boolean => forced || (isTerminal && !plain && env["TERM"] !== "dumb");
  let interruption: AbortSignal | undefined;
  return {
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    env,
    // Evaluated only when a command may prompt: opening standard input takes longer than printing help.
    get interactive() {
      return process.stdin.isTTY === true && stderr.isTTY === true;
    },
    terminal: {
      outColors: colors(stdout.isTTY === true),
      errColors: colors(stderr.isTTY === true),
      redraw: stderr.isTTY === true && env["TERM"] !== "dumb",
      columns: stderr.columns ?? 0,
    },
    ask: async (question) => {
      // Loaded only when a command prompts: it takes longer than printing help.
      const { createInterface } = await import("node:readline/promises");
      const lines = createInterface({ input: process.stdin, output: stderr });
      try {
        return await lines.question(question);
      } finally {
        lines.close();
      }
    },
    stdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
    interrupted: () => (interruption ??= onInterrupt()),
  };
}

/** The first Ctrl-C lets the command report its state; a second one, or a command that does not stop in time, exits at once. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort(new Error("interrupted"));
      setTimeout(() => process.exit(130), FAREWELL_MS).unref();
    });
  }
  return controller.signal;
}
