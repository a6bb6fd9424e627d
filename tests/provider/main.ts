import { systemClock, systemRandom } from "@capstan/apimachinery";
import { runProvider } from "@capstan/capi";
import { createLogger, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { labProvider } from "./lab.ts";
import { MemoryLab } from "./memory-lab.ts";

const clock = systemClock;
const log = await createLogger({ level: "info" });
const transport = httpTransport(await loadKubeconfig({ clock }), { clock });
const lab = new MemoryLab({ clock, hosts: { "rack-1": 3 }, bootMs: 20_000 });
const running = await runProvider(labProvider(lab), { transport, clock, random: systemRandom, log });
process.once("SIGTERM", () => void running.stop().then(() => transport.close()));
