export { type AgentOptions, runAgent } from "./agent/agent.ts";
export { identify } from "./agent/enrol.ts";
export { requestCertificate } from "./agent/identity.ts";
export {
  byoHost,
  type EnrolmentToken,
  enrolmentLine,
  enrolmentRoles,
  enrolmentSecret,
  hostRights,
  newEnrolmentToken,
  offerEnrolment,
} from "./enrolment.ts";
export type { InstallPlan } from "./execute/install.ts";
export { ByoHost } from "./kinds/byo-host.ts";
export {
  agentUser,
  ENROL_HOST_ANNOTATION,
  ENROL_UID_ANNOTATION,
  ENROLMENT_ANNOTATION,
  GIVEN_UP_REASON,
  HOST_GROUP,
  hostLogName,
  hostUser,
  INSTALL_KEYS,
  parseHostUser,
} from "./protocol.ts";
export { AGENT_REASONS } from "./reasons.ts";
