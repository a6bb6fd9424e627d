/**
 * Asks an API server what it says to a case: upstream's managers when answers are recorded, ours when they are compared. `ready` is
 * called when the objects that a case needs are there.
 * @param {import("@capstan/runtime").Client} client
 * @param {import("./admission.cases.mjs").AdmissionCase} question
 * @param {{ namespace: string; ready?: (given: any[]) => Promise<void> }} where
 */
export async function ask(
  client,
  { given, create, change, subresource, remove, shows },
  { namespace, ready = async () => undefined },
) {
  const here = (object) => (given === undefined ? object : within(namespace, object));
  const there = (given ?? []).map(here);
  if (given !== undefined) {
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    for (const object of there) await createWithStatus(client, object);
    await ready(there);
  }
  const subject = here(create);
  const known = there.some(({ kind, metadata }) => kind === subject.kind && metadata.name === subject.metadata.name);
  const isLast = change === undefined && remove === undefined;
  let accepted;
  try {
    if (!known) accepted = await client.create(subject, { dryRun: isLast });
  } catch (error) {
    return { ...refusal(error), ...(isLast ? {} : { unexpected: "refused on creation" }) };
  }
  if (isLast) return { ...ACCEPTED, code: 201, ...shown(accepted, shows) };
  try {
    if (remove) await client.delete(subject, { dryRun: true });
    else accepted = await client.patch(subject, change, { dryRun: true, ...(subresource && { subresource }) });
    return { ...ACCEPTED, code: 200, ...shown(accepted, shows) };
  } catch (error) {
    return refusal(error);
  } finally {
    if (given === undefined) await clear(client, subject);
  }
}

const ACCEPTED = { reason: "", fields: [], message: "" };

const within = (namespace, object) => ({ ...object, metadata: { ...object.metadata, namespace } });

async function createWithStatus(client, { status, ...object }) {
  await client.create(object);
  if (status !== undefined) await client.patchStatus(object, { status });
}

/** Controllers may hold what a case made. */
async function clear(client, subject) {
  const release = () => client.patch(subject, { metadata: { finalizers: null } }).catch(() => undefined);
  await release();
  await client.delete(subject).catch(() => undefined);
  await release();
}

function refusal(error) {
  if (error.status?.code === undefined) throw error;
  const { code, reason, message, details } = error.status;
  const fields = new Set((details?.causes ?? []).map(({ field }) => field ?? ""));
  return { code, reason, fields: [...fields].sort((a, b) => (a < b ? -1 : 1)), message };
}

function shown(object, paths) {
  if (paths === undefined || object === undefined) return {};
  const at = (path) => path.split(".").reduce((value, key) => value?.[key], object);
  return { values: Object.fromEntries(paths.map((path) => [path, at(path)])) };
}
