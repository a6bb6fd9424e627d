import { versionedKind } from "../schema/common.ts";
import { anything, array, boolean, documented, map, object, optional, string } from "../schema/schema.ts";

const classNames = optional(
  object(
    {
      names: optional(
        array(string({ minLength: 1, maxLength: 256 }), {
          doc: "Classes; one * at the start or the end matches anything.",
          maxItems: 100,
          listType: "atomic",
        }),
      ),
    },
    { doc: "Classes whose templates the patch changes." },
  ),
);

const selector = object(
  {
    ...versionedKind,
    matchResources: object(
      {
        controlPlane: optional(boolean({ doc: "Templates of the control plane." })),
        infrastructureCluster: optional(boolean({ doc: "The template of the infrastructure cluster." })),
        machineDeploymentClass: documented(classNames, "Templates of MachineDeployments of these classes."),
        machinePoolClass: documented(classNames, "Templates of MachinePools of these classes."),
      },
      { doc: "Where in the cluster the template is used.", minProperties: 1 },
    ),
  },
  { doc: "Templates that the patch changes." },
);

const jsonPatch = object(
  {
    op: string({ doc: "What to do.", enum: ["add", "replace", "remove"] }),
    path: string({ doc: "JSON pointer below /spec or /metadata.", minLength: 1, maxLength: 512 }),
    value: optional(anything({ doc: "The value." })),
    valueFrom: optional(
      object(
        {
          variable: optional(string({ doc: "Take the value of this variable.", minLength: 1, maxLength: 256 })),
          template: optional(string({ doc: "Go template that renders YAML.", minLength: 1, maxLength: 10240 })),
        },
        { doc: "Source of the value, instead of value; exactly one of its fields is set." },
      ),
    ),
  },
  { doc: "One JSON patch operation." },
);

const extension = (doc: string) => optional(string({ doc, minLength: 1, maxLength: 512 }));

/** `ClusterClass.spec.patches`: changes of templates, in order. */
export const classPatches = array(
  object(
    {
      name: string({ doc: "Name of the patch, unique in the class.", minLength: 1, maxLength: 256 }),
      description: optional(string({ doc: "What the patch does.", minLength: 1, maxLength: 1024 })),
      enabledIf: optional(
        string({ doc: "Go template; the patch is applied if it renders true.", minLength: 1, maxLength: 256 }),
      ),
      definitions: optional(
        array(
          object(
            {
              selector,
              jsonPatches: array(jsonPatch, { doc: "Changes.", minItems: 1, maxItems: 100, listType: "atomic" }),
            },
            { doc: "JSON patches for the templates that one selector matches." },
          ),
          { doc: "JSON patches of the templates.", maxItems: 100, listType: "atomic" },
        ),
      ),
      external: optional(
        object(
          {
            generatePatchesExtension: extension("Extension that generates patches."),
            validateTopologyExtension: extension("Extension that validates the result."),
            discoverVariablesExtension: extension("Extension that defines variables."),
            settings: optional(map(string(), { doc: "Settings for the extension." })),
          },
          { doc: "Patches from an extension." },
        ),
      ),
    },
    { doc: "One patch of the class." },
  ),
  { doc: "Changes of templates, in order.", minItems: 1, maxItems: 1000, listType: "atomic" },
);
