/** `npm run bench -- fleet [--kubeadm] [--short]`: many clusters in one process, with hosted control planes or with those of machines. */
const { measure } = process.argv.includes("--kubeadm") ? await import("./kubeadm.ts") : await import("./hosted.ts");
// All is in this process, and timers of the clock do not keep it running.
const running = setInterval(() => undefined, 60_000);
await measure(process.argv.includes("--short"));
clearInterval(running);
process.exit(0);
