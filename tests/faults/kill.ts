import { type ChildProcess, spawn } from "node:child_process";
import { type Random, randomInt } from "@capstan/apimachinery";
import type { Ledger } from "./ledger.ts";

const WRITER = new URL("./writer.js", import.meta.url).pathname;

/** Starts a writer, kills it without warning at a random moment under load, and records its output. */
export async function killRound(directory: string, round: number, random: Random, ledger: Ledger): Promise<void> {
  const child = spawn(process.execPath, [WRITER, directory, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
  const delay = randomInt(random, 250);
  await follow(child, ledger, () => setTimeout(() => child.kill("SIGKILL"), delay));
  if (child.signalCode !== "SIGKILL") throw new Error(`the writer ended by itself with code ${child.exitCode}`);
}

/** Lets a writer run with a limit on the size of its files, as on a full disk; returns its error. */
export async function fullDiskRound(directory: string, kilobytes: number, ledger: Ledger): Promise<string> {
  // Ignoring the signal makes the write itself fail, as it does on a full disk.
  const script = `trap '' XFSZ; ulimit -f ${kilobytes * 2}; exec "$0" "$@"`;
  const arguments_ = ["-c", script, process.execPath, WRITER, directory, "0"];
  const child = spawn("sh", arguments_, { stdio: ["ignore", "pipe", "ignore"] });
  let message = "";
  await follow(
    child,
    ledger,
    () => {},
    (line) => {
      if (line.startsWith("full ")) message = line.slice(5);
    },
  );
  if (child.exitCode !== 0)
    throw new Error(`the writer did not survive a full disk: ${child.signalCode ?? child.exitCode}`);
  return message;
}

/** Reads a writer's lines until it exits. */
function follow(
  child: ChildProcess,
  ledger: Ledger,
  onFirstPromise: () => void,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error("no output");
    const lines: string[] = [];
    let text = "";
    let started = false;
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (!started && text.includes("ack ")) {
        started = true;
        onFirstPromise();
      }
    });
    child.on("error", reject);
    child.on("close", () => {
      // The text after the last line break is incomplete.
      lines.push(...text.slice(0, text.lastIndexOf("\n") + 1).split("\n"));
      try {
        for (const line of lines) {
          ledger.note(line);
          onLine(line);
        }
        resolve();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}
