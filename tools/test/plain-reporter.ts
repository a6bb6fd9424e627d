import type { Reporter, TestModule } from "vitest/node";

/** Prints one plain line at the end of a run that people and machines can read: `N passed, N failed[, N skipped]`. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      let failed = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state]++;
        if (state === "failed") failed++;
      }
      // A file that could not be loaded, whose set-up failed or whose worker died has failed, though no test of it has.
      if (failed === 0 && (module.state() === "failed" || module.state() === "pending" || module.state() === "queued"))
        count.failed++;
    }
    const skipped = count.skipped + count.pending;
    // After the default reporter's summary, so that it is the last line.
    process.on("exit", () => {
      process.stdout.write(
        `\n${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
      );
    });
  }
}
