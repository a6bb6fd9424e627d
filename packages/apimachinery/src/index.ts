export { formatAge } from "./age.ts";
export { type ApplyInput, applyPatch, applySteps } from "./apply/apply-patch.ts";
export { type CompiledApplySchema, compileApplySchema } from "./apply/apply-type.ts";
export type { FieldManagerInput } from "./apply/field-manager.ts";
export { OBJECT_META_SCHEMA } from "./apply/object-meta-schema.ts";
export { trackSteps, trackUpdate } from "./apply/track-update.ts";
export { builtinZeroObject } from "./apply/zero-objects.ts";
export {
  type CelBudget,
  type CelCompilation,
  type CelProgram,
  type CelVariableType,
  compileCel,
} from "./cel/compile-cel.ts";
export { type AskAccess, authorizerVariables } from "./cel/lib-authorizer.ts";
export { type Clock, formatMicroTime, formatTime, sleep, systemClock } from "./clock.ts";
export { findCondition, isTrue, removeCondition, setCondition } from "./conditions.ts";
export { formatDuration, goDurationError, parseDuration } from "./duration.ts";
export {
  alreadyExists,
  applyConflict,
  badRequest,
  conflict,
  expired,
  forbidden,
  type GroupKind,
  type GroupResource,
  generateNameConflict,
  gone,
  internalError,
  invalid,
  methodNotSupported,
  namespaceTerminating,
  notAcceptable,
  notFound,
  requestEntityTooLarge,
  serviceUnavailable,
  timeout,
  tooLargeResourceVersion,
  tooManyRequests,
  unauthorized,
  unprocessablePatch,
  unsupportedMediaType,
} from "./errors.ts";
export {
  duplicate,
  type FieldError,
  type FieldErrorType,
  fieldErrorBody,
  fieldErrorText,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from "./field-error.ts";
export { type FieldRequirement, type FieldSelector, fieldSelector, parseFieldSelector } from "./field-selectors.ts";
export { goJson, goKind, goNumber, goQuote } from "./go-text.ts";
export { compareApiVersions, groupVersion, gvkOf, parseGroupVersion } from "./gvk.ts";
export { type IntOrString, scaledValue } from "./int-or-string.ts";
export {
  deepCopy,
  deepEqual,
  deepFreeze,
  getOwn,
  isObject,
  type JsonObject,
  MAX_DEPTH,
  setOwn,
  shareEqualParts,
  stableStringify,
} from "./json.ts";
export { compileJsonPath, type JsonPath } from "./jsonpath.ts";
export { type LabelOperator, type LabelRequirement, labelRequirement } from "./label-requirement.ts";
export { AttemptLimit, type AttemptLimitOptions } from "./limits/attempt-limit.ts";
export { ByteBudget, type ByteShare } from "./limits/byte-budget.ts";
export {
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  HTTP_TIME_LIMITS,
  limitConnections,
  markAuthenticated,
  TLS_TIME_LIMITS,
} from "./limits/connection-limits.ts";
export {
  type NameRule,
  type ObjectMetaRules,
  sameObjectMeta,
  validateAnnotations,
  validateFieldManager,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "./meta-validation.ts";
export {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
} from "./names.ts";
export type {
  Condition,
  GroupVersionKind,
  GroupVersionResource,
  KubeList,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  Unstructured,
} from "./object.ts";
export { addOwnerReference, controllerOf, hasOwner, ownerReference, removeOwnerReference } from "./owner-references.ts";
export { applyJsonPatch } from "./patch/json-patch.ts";
export { applyMergePatch, createMergePatch } from "./patch/merge-patch.ts";
export { applyStrategicMergePatch } from "./patch/strategic-merge-patch.ts";
export { decodeKubernetesProtobuf, protobufType } from "./protobuf/decode.ts";
export {
  addQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  quantityValue,
} from "./quantity.ts";
export { type Random, randomFloat, randomInt, randomSuffix, randomUuid, seededRandom, systemRandom } from "./random.ts";
export { type CompiledSchema, compileSchema, type ValidateOptions } from "./schema/compile.ts";
export { knownFormat } from "./schema/formats.ts";
export { formatIpAddress, type IpBytes, parseCidrText, parseIpAddress } from "./schema/ip-address.ts";
export { compileRe2 } from "./schema/pattern.ts";
export { checkStructuralSchema, structuralSteps } from "./schema/structural.ts";
export type { JSONSchemaProps, JsonValue, ValidationRule } from "./schema/types.ts";
export {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelector,
  labelSelectorFromObject,
  parseLabelSelector,
  selectorOrProblem,
} from "./selectors.ts";
export { ApiError, isReason, type Status, type StatusCause, type StatusDetails } from "./status.ts";
export { runSteps, type Steps } from "./steps.ts";
export { parseStrictYaml, StrictYamlError, toStrictYaml, unsafeCharacter } from "./strict-yaml.ts";
export type { ApiRequest, ApiResponse, Transport, Upgraded, UserInfo, WatchEvent } from "./transport.ts";
export { trimEndOf } from "./trim.ts";
export { settle, VirtualClock } from "./virtual-clock.ts";
export { parseYaml, parseYamlDocuments, toGoYaml, toYaml } from "./yaml.ts";
