/** How many replicas an object gets that names none, with and without an autoscaler's limits. */
import { deployment, pool, set } from "./admission.objects.mjs";

const limits = (min, max) => ({
  annotations: {
    ...(min === undefined ? {} : { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": min }),
    ...(max === undefined ? {} : { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": max }),
  },
});
const shows = ["spec.replicas"];
/** Leaves the number to the rules. */
const handOver = { spec: { replicas: null } };

/** @type {Record<string, import("./admission.cases.mjs").AdmissionCase>} */
export const REPLICAS_CASES = {
  "MachineDeployment without a number": { create: deployment({}), shows },
  "MachineDeployment of an autoscaler": { create: deployment({}, limits("3", "5")), shows },
  "MachineSet of an autoscaler": { create: set({}, limits("3", "5")), shows },
  "MachinePool of an autoscaler": { create: pool({}, limits("3", "5")), shows },
  "MachineDeployment with only a smallest size": { create: deployment({}, limits("3")), shows },
  "MachineDeployment with only a largest size that is none": {
    create: deployment({}, limits(undefined, "many")),
    shows,
  },
  "MachineDeployment with a smallest size that is none": { create: deployment({}, limits("few", "5")) },
  "MachineDeployment with a largest size that is none": { create: deployment({}, limits("3", "many")) },
  "MachineDeployment with an empty smallest size": { create: deployment({}, limits("", "5")) },
  "MachineDeployment with a blank before its smallest size": { create: deployment({}, limits(" 3", "5")) },
  "MachineDeployment with a signed smallest size": { create: deployment({}, limits("+3", "5")), shows },
  "MachineDeployment with a negative smallest size": { create: deployment({}, limits("-3", "5")), shows },
  "MachineDeployment with a largest size beyond all numbers": { create: deployment({}, limits("3", "2147483648")) },
  "MachineDeployment with the largest number": { create: deployment({}, limits("3", "2147483647")), shows },
  "MachineDeployment with a number and sizes that are none": {
    create: deployment({ replicas: 2 }, limits("few", "many")),
    shows,
  },
  "MachineSet with a smallest size that is none": { create: set({}, limits("few", "5")) },
  "MachineSet with a largest size that is none": { create: set({}, limits("3", "many")) },
  "MachinePool with a smallest size that is none": { create: pool({}, limits("few", "5")) },
  "MachinePool with a largest size that is none": { create: pool({}, limits("3", "many")) },
  "MachineDeployment handed over below": {
    create: deployment({ replicas: 1 }, limits("3", "5")),
    change: handOver,
    shows,
  },
  "MachineDeployment handed over within": {
    create: deployment({ replicas: 4 }, limits("3", "5")),
    change: handOver,
    shows,
  },
  "MachineDeployment handed over above": {
    create: deployment({ replicas: 9 }, limits("3", "5")),
    change: handOver,
    shows,
  },
  "MachineDeployment handed over to limits the wrong way round": {
    create: deployment({ replicas: 4 }, limits("5", "3")),
    change: handOver,
    shows,
  },
  "MachineSet handed over above": { create: set({ replicas: 9 }, limits("3", "5")), change: handOver, shows },
  "MachinePool handed over above": { create: pool({ replicas: 9 }, limits("3", "5")), change: handOver, shows },
  "MachineDeployment handed over to sizes that are none": {
    create: deployment({ replicas: 4 }, limits("few", "5")),
    change: handOver,
  },
};
