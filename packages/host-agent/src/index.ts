export {
  byoHost,
  type EnrolmentToken,
  enrolmentLine,
  enrolmentRoles,
  enrolmentSecret,
  hostRights,
  newEnrolmentToken,
} from "./enrolment.ts";
export { ByoHost } from "./kinds/byo-host.ts";
export { ENROL_HOST_ANNOTATION, HOST_GROUP, HOST_LABEL, hostUser, parseHostUser } from "./protocol.ts";
