import { array, boolean, documented, integer, map, object, optional, string } from "@capstan/capi";
import { OWN_FILES } from "../components/own-files.ts";

/** A name without a slash: it can only refer to the same namespace. */
export const OBJECT_NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";

/** One command-line flag of a component. */
export const argument = object(
  {
    name: string({ doc: "Flag without leading dashes.", pattern: "^[a-z0-9][a-z0-9-]*$", maxLength: 128 }),
    value: optional(string({ doc: "Its value. `$FILES/NAME` stands for a file of `files`.", maxLength: 1024 })),
  },
  { doc: "One command-line flag." },
);

const file = object(
  {
    name: string({
      doc: "File name; arguments refer to it as `$FILES/NAME`.",
      pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
      maxLength: 128,
      rules: [
        {
          rule: `!(self in ${JSON.stringify(OWN_FILES).replaceAll('"', "'")})`,
          message: "this name is used by a file of the control plane itself; choose another one",
        },
      ],
    }),
    content: optional(string({ doc: "Its content, if it is not a secret.", maxLength: 10240 })),
    contentFrom: optional(
      object(
        {
          secret: object(
            {
              name: string({ doc: "Name of the Secret.", pattern: OBJECT_NAME, maxLength: 253 }),
              key: string({ doc: "Key in the Secret.", maxLength: 253 }),
            },
            { doc: "A key of a Secret in the same namespace." },
          ),
        },
        { doc: "Source of the content, instead of content." },
      ),
    ),
  },
  { doc: "One file for the component." },
);

const amounts = map(string({ maxLength: 32 }), {
  doc: "Kubernetes quantities, such as `cpu: 250m` and `memory: 512Mi`.",
});

/** Image and resources of a component that runs in a container. */
export const containerFields = {
  image: optional(
    string({ doc: "Pods: image of the component; by default that of the version.", minLength: 1, maxLength: 512 }),
  ),
  resources: optional(
    object(
      { requests: optional(amounts), limits: optional(amounts) },
      { doc: "Pods: resource requests and limits of the container; by default kubeadm's requests and no limits." },
    ),
  ),
};

const fileName = (doc: string) => optional(string({ doc, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$", maxLength: 128 }));

const componentFields = {
  ...containerFields,
  featureGates: optional(map(boolean({}), { doc: "Feature gates by name." })),
  extraArgs: optional(
    array(argument, { doc: "More flags. Flags that the placement owns are rejected.", maxItems: 100 }),
  ),
  files: optional(
    array(file, {
      doc: "Files that the flags refer to, such as an audit policy.",
      maxItems: 20,
      listType: "map",
      keys: ["name"],
    }),
  ),
  memoryBytes: optional(integer({ doc: "Soft memory limit in bytes.", minimum: 0, format: "int64" })),
};

/** Settings of kube-controller-manager and kube-scheduler. */
export const component = object(componentFields);

const pluginNames = array(string({ pattern: "^[A-Za-z0-9]+$", maxLength: 128 }), {
  doc: "Names of admission plugins.",
  listType: "set",
  maxItems: 50,
});

/** Settings of kube-apiserver. */
export const apiServer = object(
  {
    ...componentFields,
    oidc: optional(
      object(
        {
          issuerURL: string({ doc: "Issuer URL of the tokens.", pattern: "^https://", maxLength: 512 }),
          clientID: string({ doc: "Client ID that tokens must be issued for.", minLength: 1, maxLength: 512 }),
          usernameClaim: optional(string({ doc: "Claim that holds the user name; `sub` by default.", maxLength: 128 })),
          usernamePrefix: optional(
            string({
              doc: "Prefix of user names; by default the issuer URL and `#`, unless the claim is `email`.",
              maxLength: 128,
            }),
          ),
          groupsClaim: optional(
            string({ doc: "Claim that holds the groups of the user; no groups by default.", maxLength: 128 }),
          ),
          groupsPrefix: optional(string({ doc: "Prefix of group names; none by default.", maxLength: 128 })),
          caFile: fileName("Entry of `files` with the CA of the issuer."),
        },
        { doc: "Authentication of users with OpenID Connect tokens." },
      ),
    ),
    audit: optional(
      object(
        {
          policyFile: string({
            doc: "Entry of `files` with the audit policy.",
            pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
            maxLength: 128,
          }),
          maxAgeDays: optional(
            integer({ doc: "How long old logs are kept; 30 by default.", minimum: 0, maximum: 3650 }),
          ),
          maxBackups: optional(
            integer({ doc: "How many old logs are kept; 10 by default.", minimum: 0, maximum: 1000 }),
          ),
          maxSizeMiB: optional(
            integer({ doc: "Size at which a log is rotated; 100 by default.", minimum: 1, maximum: 10_000 }),
          ),
        },
        { doc: "An audit log: Process `kube-apiserver/data/audit.log`, Pods the container's log." },
      ),
    ),
    encryption: optional(
      object(
        {
          resources: optional(
            array(string({ maxLength: 253 }), {
              doc: "Resources that are encrypted in etcd, such as `secrets` and `configmaps`; `secrets` by default.",
              listType: "set",
              maxItems: 50,
            }),
          ),
        },
        { doc: "Encryption at rest with a key of its own, which is stored in Secret `CLUSTER-encryption`." },
      ),
    ),
    admission: optional(
      object(
        {
          enable: optional(documented(pluginNames, "Admission plugins to enable in addition to the default ones.")),
          disable: optional(documented(pluginNames, "Default admission plugins to disable.")),
          configFile: fileName("Entry of `files` with an AdmissionConfiguration."),
        },
        { doc: "Admission plugins in addition to the default ones." },
      ),
    ),
  },
  { doc: "Settings of kube-apiserver." },
);
