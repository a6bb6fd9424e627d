import { compileSchema, isObject, ownerReference } from "@capstan/apimachinery";
import { type ReconcileContext, releaseFinalizer } from "@capstan/runtime";
import { type BareMetalHost, HOST_HARDWARE_ANNOTATION } from "../kinds/bare-metal-host.ts";
import { HARDWARE_DATA_FINALIZER, HardwareData } from "../kinds/hardware-data.ts";
import { type HardwareDetails, hardwareDetails } from "../kinds/hardware-details.ts";

/** Stores inspection results in a HardwareData, where they survive a move or a lost status. */
export async function storeHardware(
  host: BareMetalHost,
  hardware: HardwareDetails,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name } = host.metadata;
  const desired: HardwareData = {
    apiVersion: HardwareData.apiVersion,
    kind: HardwareData.kind,
    metadata: {
      namespace: namespace ?? "",
      name: name ?? "",
      finalizers: [HARDWARE_DATA_FINALIZER],
      ownerReferences: [ownerReference(host, { controller: true })],
    },
    spec: { hardware },
  };
  await context.client.apply(desired, {}, context.signal);
}

/** Returns the inspection results that were stored in the host's HardwareData. */
export async function storedHardware(
  host: BareMetalHost,
  context: ReconcileContext,
): Promise<HardwareDetails | undefined> {
  const { namespace, name = "" } = host.metadata;
  return (await context.client.get(HardwareData, { namespace, name }, context.signal))?.spec?.hardware;
}

/** Removes the finalizer of the host's HardwareData and deletes it. */
export async function forgetHardware(host: BareMetalHost, context: ReconcileContext): Promise<void> {
  const { namespace, name = "" } = host.metadata;
  const live = await context.client.get(HardwareData, { namespace, name }, context.signal);
  if (live === undefined) return;
  await releaseFinalizer(context.client, live, HARDWARE_DATA_FINALIZER, context.signal);
  await context.client.delete(live, {}, context.signal);
}

/** Parses the hardware details that a user sets by annotation instead of inspection; a problem describes what is invalid. */
export function givenHardware(host: BareMetalHost): { hardware: HardwareDetails } | { problem: string } | undefined {
  const text = host.metadata.annotations?.[HOST_HARDWARE_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return { problem: "it is not a JSON object" };
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
