/** Lower-case names separated by dots, as object names and API groups have. */
export const SUBDOMAIN = String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`;
/** A namespace's name. */
export const LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/** A kind. */
export const KIND = "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$";
/** group/version; no core group. */
export const API_VERSION = String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[a-z]([-a-z0-9]*[a-z0-9])?$`;
/** Type of a condition: a name with an optional domain before it. */
export const CONDITION_TYPE = String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`;
/** Key of a taint. */
export const TAINT_KEY = String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`;
/** Value of a label or taint. */
export const LABEL_VALUE = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
/** `[3-5]`, bounds included. */
export const RANGE = String.raw`^\[[0-9]+-[0-9]+\]$`;
