/** Kept on a claim until its data and addresses are released. */
export const DATA_CLAIM_FINALIZER = "metal3dataclaim.infrastructure.cluster.x-k8s.io";
/** Kept on data until its addresses are released, and on the claims of those addresses while the data uses them. */
export const DATA_FINALIZER = "metal3data.infrastructure.cluster.x-k8s.io";
/** Kept on a template while data of it exists. */
export const DATA_TEMPLATE_FINALIZER = "metal3datatemplate.infrastructure.cluster.x-k8s.io";
/** Type of the Secrets with rendered data. */
export const DATA_SECRET_TYPE = "infrastructure.cluster.x-k8s.io/secret";
