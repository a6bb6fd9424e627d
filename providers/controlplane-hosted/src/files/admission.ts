import { isObject } from "@capstan/apimachinery";
import { document, FileRefusal, fields, integer, list, mapOf, oneOf, type Shape, text, yesOrNo } from "./shape.ts";

/** Another file of `files` that holds a kubeconfig; written as the component finds it. */
const kubeconfigFile: Shape = (value, at, around) =>
  typeof value === "string" ? `${around.folder}/${around.refer(value, at, "kubeconfig")}` : text()(value, at, around);

const selector = fields({ scopeName: text(), operator: text(), values: list(text()) });
const limitedResources = list(
  fields({ apiGroup: text(), resource: text(), matchContains: list(text()), matchScopes: list(selector) }),
);
const toleration = fields({
  key: text(),
  operator: text(),
  value: text(),
  effect: text(),
  tolerationSeconds: integer,
});
const level = oneOf("privileged", "baseline", "restricted");

const either =
  (kinds: Readonly<Record<string, Shape>>): Shape =>
  (value, at, around) => {
    const kind = isObject(value) ? value["kind"] : undefined;
    const known = Object.keys(kinds);
    const shape = typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (shape === undefined) throw new FileRefusal(`has ${at}.kind, which must be ${known.join(" or ")}; correct it`);
    return shape(value, at, around);
  };

const webhook = either({
  WebhookAdmissionConfiguration: document("WebhookAdmissionConfiguration", ["apiserver.config.k8s.io/v1"], {
    kubeConfigFile: kubeconfigFile,
  }),
  WebhookAdmission: document("WebhookAdmission", ["apiserver.config.k8s.io/v1alpha1"], {
    kubeConfigFile: kubeconfigFile,
  }),
});

/** Allowed configuration of admission plugins, by name; other plugins take none. */
export const PLUGINS: Readonly<Record<string, Shape>> = {
  PodSecurity: document(
    "PodSecurityConfiguration",
    ["v1", "v1beta1", "v1alpha1"].map((version) => `pod-security.admission.config.k8s.io/${version}`),
    {
      defaults: fields({
        enforce: level,
        "enforce-version": text(),
        audit: level,
        "audit-version": text(),
        warn: level,
        "warn-version": text(),
      }),
      exemptions: fields({ usernames: list(text()), namespaces: list(text()), runtimeClasses: list(text()) }),
    },
  ),
  EventRateLimit: document("Configuration", ["eventratelimit.admission.k8s.io/v1alpha1"], {
    limits: list(
      fields({
        type: oneOf("Server", "Namespace", "User", "SourceAndObject"),
        qps: integer,
        burst: integer,
        cacheSize: integer,
      }),
    ),
  }),
  ImagePolicyWebhook: fields({
    imagePolicy: fields({
      kubeConfigFile: kubeconfigFile,
      allowTTL: integer,
      denyTTL: integer,
      retryBackoff: integer,
      defaultAllow: yesOrNo,
    }),
  }),
  PodNodeSelector: fields({ podNodeSelectorPluginConfig: mapOf(text()) }),
  PodTolerationRestriction: document("Configuration", ["podtolerationrestriction.admission.k8s.io/v1alpha1"], {
    default: list(toleration),
    whitelist: list(toleration),
  }),
  ResourceQuota: either({
    ResourceQuotaConfiguration: document("ResourceQuotaConfiguration", ["apiserver.config.k8s.io/v1"], {
      limitedResources,
    }),
    Configuration: document(
      "Configuration",
      ["resourcequota.admission.k8s.io/v1beta1", "resourcequota.admission.k8s.io/v1alpha1"],
      { limitedResources },
    ),
  }),
  MutatingAdmissionWebhook: webhook,
  ValidatingAdmissionWebhook: webhook,
};

const plugin: Shape = (value, at, around) => {
  const name = isObject(value) ? value["name"] : undefined;
  const shape = typeof name === "string" && Object.hasOwn(PLUGINS, name) ? PLUGINS[name] : undefined;
  if (shape === undefined)
    throw new FileRefusal(
      `has ${at}.name, which must be one of ${Object.keys(PLUGINS).join(", ")}: other plugins take no configuration; remove it`,
    );
  const path: Shape = (given, place) =>
    typeof given === "string"
      ? given === ""
        ? given
        : around.refer(given, place, `plugin ${name as string}`)
      : text()(given, place, around);
  return fields({ name: text(), path, configuration: shape })(value, at, around);
};

/** Shape of kube-apiserver's `--admission-control-config-file`. */
export const ADMISSION: Shape = document(
  "AdmissionConfiguration",
  ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1alpha1", "apiserver.k8s.io/v1alpha1"],
  { plugins: list(plugin) },
);
