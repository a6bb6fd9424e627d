import { compileSchema, isObject } from "@capstan/apimachinery";
import { type ReconcileContext, releaseFinalizer } from "@capstan/runtime";
import { type BareMetalHost, HOST_HARDWARE_ANNOTATION } from "../kinds/bare-metal-host.ts";
import { HARDWARE_DATA_FINALIZER, HardwareData } from "../kinds/hardware-data.ts";
import { type HardwareDetails, hardwareDetails } from "../kinds/hardware-details.ts";

/** Keeps what was found where a lost status or a move does not take it away. */
export async function storeHardware(
  host: BareMetalHost,
  hardware: HardwareDetails,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name, uid } = host.metadata;
  const desired: HardwareData = {
    apiVersion: HardwareData.apiVersion,
    kind: HardwareData.kind,
    metadata: {
      namespace: namespace ?? "",
      name: name ?? "",
      finalizers: [HARDWARE_DATA_FINALIZER],
      ownerReferences: [
        {
          apiVersion: host.apiVersion,
          kind: host.kind,
          name: name ?? "",
          uid: uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { hardware },
  };
  await context.client.apply(desired, {}, context.signal);
}

/** What was found of a host before its status was lost. */
export async function storedHardware(
  host: BareMetalHost,
  context: ReconcileContext,
): Promise<HardwareDetails | undefined> {
  const { namespace, name = "" } = host.metadata;
  return (await context.client.get(HardwareData, { namespace, name }, context.signal))?.spec?.hardware;
}

/** Lets the HardwareData go with its host. */
export async function forgetHardware(host: BareMetalHost, context: ReconcileContext): Promise<void> {
  const { namespace, name = "" } = host.metadata;
  const live = await context.client.get(HardwareData, { namespace, name }, context.signal);
  if (live === undefined) return;
  await releaseFinalizer(context.client, live, HARDWARE_DATA_FINALIZER, context.signal);
  await context.client.delete(live, {}, context.signal);
}

/** Hardware details a person wrote down for a host that is not inspected; an error names what is wrong with them. */
export function givenHardware(host: BareMetalHost): { hardware: HardwareDetails } | { problem: string } | undefined {
  const text = host.metadata.annotations?.[HOST_HARDWARE_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return { problem: "it is no JSON object" };
    const schema = compileSchema(hardwareDetails.json);
    schema.prune(value, { root: false });
    const [error] = schema.validate(value);
    return error === undefined
      ? { hardware: value as HardwareDetails }
      : { problem: `${error.field}: ${error.detail}` };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
