import {
  ApiError,
  applyJsonPatch,
  badRequest,
  type Clock,
  deepEqual,
  goQuote,
  internalError,
  type Random,
  randomUuid,
  type Unstructured,
} from "@capstan/apimachinery";
import { apiVersionOf } from "../registry/core.ts";
import { isCustom } from "../registry/custom-type.ts";
import { decodeObject } from "../registry/decode.ts";
import type {
  AdmissionPlugin,
  AdmissionRequest,
  Authorizer,
  InternalApi,
  ResourceRegistry,
  ResourceType,
} from "../types.ts";
import { accessVariables } from "./match-condition.ts";
import type { CompileCondition, Webhook } from "./webhook.types.ts";
import { type WebhookClient, webhookClient } from "./webhook-client.ts";
import { WebhookIndex } from "./webhook-index.ts";
import { conditionsMatch, isExempt, selectorsMatch, wantedType } from "./webhook-match.ts";
import {
  admissionReview,
  deniedError,
  InvalidAnswer,
  type ReviewAnswer,
  readAnswer,
  reviewRequest,
} from "./webhook-review.ts";

/** What calling webhooks needs. */
export interface WebhookDependencies {
  api: InternalApi;
  registry: ResourceRegistry;
  clock: Clock;
  random: Random;
  /** Evaluates match conditions that check a user's permissions. */
  authorizer: Authorizer;
  compile: CompileCondition;
  /** Default: HTTPS. */
  client?: WebhookClient;
}

/** A webhook that could not be called. With failurePolicy Ignore the request continues. */
class CallFailed extends Error {}

/** Calls the webhooks of Mutating- and ValidatingWebhookConfigurations. Costs nothing while there are none. */
export function webhookAdmission(deps: WebhookDependencies): AdmissionPlugin & { close(): Promise<void> } {
  const index = new WebhookIndex(deps.api, deps.compile);
  const client = deps.client ?? webhookClient(deps);

  const cares = (webhook: Webhook, type: ResourceType, operation: string, subresource: string): boolean =>
    wantedType(webhook, type, operation, subresource, deps.registry) !== undefined;

  /** How to call one webhook; undefined = it does not match. */
  const prepare = async (webhook: Webhook, request: AdmissionRequest): Promise<Ask | undefined> => {
    const { type, attributes } = request;
    const shown = wantedType(webhook, type, request.operation, attributes.subresource, deps.registry);
    if (shown === undefined || !selectorsMatch(webhook, request, deps.api)) return undefined;
    const object = asSeen(webhook, request, await inVersion(type, request.object, shown));
    const oldObject = await inVersion(type, request.oldObject, shown);
    const uid = randomUuid(deps.random);
    const review = reviewRequest(request, shown, uid, { object, oldObject });
    const variables = { object: review["object"], oldObject: review["oldObject"], request: review };
    const access = webhook.conditions.length === 0 ? {} : accessVariables(deps.authorizer, attributes);
    if (!(await conditionsMatch(webhook, request, { ...variables, ...access }))) return undefined;
    if (request.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun")
      throw badRequest(`admission webhook ${goQuote(webhook.name)} does not support dry run`);
    return async () => {
      const answer = await call(client, webhook, uid, review);
      for (const warning of answer.warnings) request.warn(warning);
      if (!answer.allowed) throw deniedError(webhook.name, answer.status);
      return { answer, object, shown };
    };
  };

  /** The same with failurePolicy applied. */
  const askByPolicy = async (webhook: Webhook, ask: Ask | undefined): Promise<Asked | undefined> => {
    try {
      return await ask?.();
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      if (webhook.failurePolicy === "Ignore") return undefined;
      throw internalError(error.message);
    }
  };

  return {
    name: "Webhooks",
    handles(type, operation, subresource) {
      const webhooks = index.all();
      return webhooks.length > 0 && !isExempt(type) && webhooks.some((w) => cares(w, type, operation, subresource));
    },

    async mutate(request) {
      const webhooks = index.mutating();
      const invoked = new Set<Webhook>();
      const again = new Set<Webhook>();
      const round = async (due: (webhook: Webhook) => boolean): Promise<void> => {
        for (const webhook of webhooks) {
          const asked = due(webhook) ? await askByPolicy(webhook, await prepare(webhook, request)) : undefined;
          if (asked === undefined) continue;
          if (await applyAnswer(webhook, request, asked)) {
            for (const earlier of invoked) again.add(earlier);
            invoked.clear();
          }
          if (webhook.reinvoke) invoked.add(webhook);
        }
      };
      await round(() => true);
      // A reinvocation may cause others, which come after it.
      if (again.size > 0) await round((webhook) => again.has(webhook));
    },

    async validate(request) {
      // Their conditions one after the other, so that no request is held up; the webhooks themselves all at once.
      const outcomes: Promise<{ error: unknown } | undefined>[] = [];
      for (const webhook of index.validating()) {
        const asked = prepare(webhook, request).then((ask) => ({ asking: askByPolicy(webhook, ask) }));
        outcomes.push(
          asked
            .then(({ asking }) => asking)
            .then(
              () => undefined,
              (error: unknown) => ({ error }),
            ),
        );
        await asked.catch(() => {});
      }
      for (const outcome of await Promise.all(outcomes)) if (outcome !== undefined) throw outcome.error;
    },

    close: async () => {
      index.close();
      await client.close();
    },
  };
}

type Ask = () => Promise<Asked>;

interface Asked {
  readonly answer: ReviewAnswer;
  /** The object as the webhook saw it, and the version it saw. */
  readonly object: Unstructured | undefined;
  readonly shown: ResourceType;
}

async function call(
  client: WebhookClient,
  webhook: Webhook,
  uid: string,
  review: Record<string, unknown>,
): Promise<ReviewAnswer> {
  const failed = (detail: string): CallFailed =>
    new CallFailed(`failed calling webhook ${goQuote(webhook.name)}: ${detail}`);
  let body: unknown;
  try {
    body = await client.post(webhook.client, admissionReview(review), webhook.timeoutSeconds);
  } catch (error) {
    throw failed(`failed to call webhook: ${error instanceof Error ? error.message : "unknown error"}`);
  }
  try {
    return readAnswer(body, uid, webhook.mutating);
  } catch (error) {
    throw error instanceof InvalidAnswer ? failed(error.message) : error;
  }
}

/** A new object gets its uid and its time only after the mutating webhooks, as upstream does it. */
function asSeen(
  webhook: Webhook,
  request: AdmissionRequest,
  object: Unstructured | undefined,
): Unstructured | undefined {
  if (object === undefined || !webhook.mutating || request.operation !== "CREATE") return object;
  const { uid: _, creationTimestamp: __, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Applies a webhook's patch to the request's object; true when it changed something. */
async function applyAnswer(webhook: Webhook, request: AdmissionRequest, asked: Asked): Promise<boolean> {
  const { answer, object, shown } = asked;
  if (answer.patch === undefined) return false;
  if (object === undefined) {
    const why = "attempted to modify the object, which is not supported for this operation";
    throw internalError(`admission webhook ${goQuote(webhook.name)} ${why}`);
  }
  let patched: unknown;
  try {
    patched = decodedAgain(shown, request, applyJsonPatch(object, answer.patch));
  } catch (error) {
    throw internalError(error instanceof ApiError ? causeOf(error) : "the webhook's patch cannot be applied");
  }
  if (deepEqual(patched, object)) return false;
  const changed = await inVersion(shown, patched as Unstructured, request.type);
  const { uid, creationTimestamp } = request.object?.metadata ?? {};
  if (changed !== undefined && request.operation === "CREATE") {
    if (uid !== undefined) changed.metadata.uid = uid;
    if (creationTimestamp !== undefined) changed.metadata.creationTimestamp = creationTimestamp;
  }
  request.object = changed;
  return true;
}

/** A webhook's result is decoded like a body: unknown fields are dropped, wrong types rejected, defaults filled in. */
function decodedAgain(shown: ResourceType, { attributes }: AdmissionRequest, patched: unknown): unknown {
  if (attributes.subresource !== "" && attributes.subresource !== "status") return patched;
  return decodeObject(shown, patched, { mode: "Ignore", duplicates: [], warn: () => {} });
}

/** The error without the hint for the sender of the object, which was not the webhook. */
function causeOf(error: ApiError): string {
  const cause = error.status.details?.causes?.[0]?.message ?? error.message;
  const start = cause.indexOf("json: ");
  return start < 0 ? cause : cause.slice(start);
}

/** An object of `from` in the version of `to`. */
async function inVersion(
  from: ResourceType,
  object: Unstructured | undefined,
  to: ResourceType,
): Promise<Unstructured | undefined> {
  if (object === undefined || from === to || !isCustom(from)) return object;
  const { converter } = from.custom;
  if (!converter.async) return converter.convert(object, apiVersionOf(to));
  return (await converter.convert([object], apiVersionOf(to)))[0];
}
