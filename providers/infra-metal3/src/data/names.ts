/** Finalizer of a Metal3DataClaim; removed once its data and addresses are released. */
export const DATA_CLAIM_FINALIZER = "metal3dataclaim.infrastructure.cluster.x-k8s.io";
/** Finalizer of a Metal3Data until its addresses are released, and of their claims while the data uses them. */
export const DATA_FINALIZER = "metal3data.infrastructure.cluster.x-k8s.io";
/** Finalizer of a Metal3DataTemplate; removed once no Metal3Data refers to it. */
export const DATA_TEMPLATE_FINALIZER = "metal3datatemplate.infrastructure.cluster.x-k8s.io";
/** Type of the Secrets with rendered data. */
export const DATA_SECRET_TYPE = "infrastructure.cluster.x-k8s.io/secret";
