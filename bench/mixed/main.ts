/** `npm run bench -- mixed`: bare metal, own hosts, address pools and WorkerPools, on memory backends. */
import { figure, report } from "../lib/result.ts";
import { claimAddresses } from "./addresses.ts";
import { claimHosts } from "./claims.ts";
import { registerHosts } from "./hosts.ts";
import { failMember } from "./pool.ts";

const short = process.argv.includes("--short");
/** Goals are set for the full size; smaller runs must be proportionally faster, with room for fixed costs. */
const SHARE = short ? 0.25 : 1;
const HOSTS = short ? 200 : 2_000;
const MACHINES = short ? 100 : 1_000;
const CLAIMS = short ? 1_000 : 10_000;
const REPLICAS = short ? 50 : 500;

const keepAlive = setInterval(() => undefined, 1000);

const hosts = await registerHosts(HOSTS);
const one = await claimHosts(1);
const claims = await claimHosts(MACHINES);
const writes = claims.writes / (MACHINES * one.writes);
const addresses = await claimAddresses(CLAIMS);
const pool = failMember(REPLICAS);
clearInterval(keepAlive);

report("mixed", [
  figure(
    `${HOSTS} hosts registered, 50 ms each answer`,
    hosts.seconds,
    "s",
    `< ${60 * SHARE} s`,
    hosts.seconds < 60 * SHARE,
  ),
  figure(
    "most requests at one BMC of 8 hosts",
    hosts.peakPerBmc,
    "",
    `<= ${hosts.limit}`,
    hosts.peakPerBmc <= hosts.limit,
  ),
  figure(
    `${MACHINES} + ${MACHINES} machines claimed`,
    claims.seconds,
    "s",
    `< ${15 * SHARE} s`,
    claims.seconds < 15 * SHARE,
  ),
  figure("hosts claimed twice", claims.twice, "", "0", claims.twice === 0),
  figure("writes over as many single runs", writes, "x", "<= 1.2", writes <= 1.2),
  figure(
    `${CLAIMS} claims on 65536 addresses`,
    addresses.seconds,
    "s",
    `< ${10 * SHARE} s`,
    addresses.seconds < 10 * SHARE,
  ),
  figure("CPU of a late claim over an early one", addresses.growth, "x", "<= 1.3", addresses.growth <= 1.3),
  figure("addresses given twice", addresses.twice, "", "0", addresses.twice === 0),
  figure(`${REPLICAS} replicas over 5 members, one fails`, pool.milliseconds, "ms", "printed", true),
  figure("plans until moved", pool.plans, "", "1", pool.plans === 1),
  figure("machines replaced needlessly", pool.replaced, "", "0", pool.replaced === 0),
]);
process.exit(0);
