/** Runs one step and prints how long it took, so that a slow run shows where the time goes. */
export async function timed<T>(name: string, step: () => Promise<T>): Promise<T> {
  const start = Date.now();
  const elapsed = (): string => `${((Date.now() - start) / 1000).toFixed(1).padStart(6)} s`;
  try {
    const result = await step();
    console.log(`${elapsed()}  ${name}`);
    return result;
  } catch (error) {
    console.log(`${elapsed()}  ${name} FAILED`);
    throw error;
  }
}

/** Waits real time; the machines under test are real. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks again and again until the answer is neither false nor undefined; the error names what was waited for and the last failure. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | false | undefined>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<T> {
  const deadline = Date.now() + (options.timeout ?? 60_000);
  let last: unknown = "no answer yet";
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== false && answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline)
      throw new Error(`${what}: not within ${(options.timeout ?? 60_000) / 1000} s (${String(last)})`);
    await sleep(options.interval ?? 100);
  }
}
