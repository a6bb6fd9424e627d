#!/usr/bin/env node
import { processIo } from "./interaction.ts";
import { runProgram } from "./program.ts";

// A reader that closes the pipe (`capstan get … | head`) is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
// Timers of the system clock do not keep a process alive; a command that waits for one is still at work.
const working = setInterval(() => undefined, 1 << 30);
process.exitCode = await runProgram(process.argv.slice(2), processIo());
clearInterval(working);
