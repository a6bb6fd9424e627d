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
  /** Answers match conditions that ask what somebody may do. */
  authorizer: Authorizer;
  compile: CompileCondition;
  /** Default: HTTPS. */
  client?: WebhookClient;
}

/** A webhook that could not be asked. With failurePolicy Ignore the request goes on. */
class CallFailed extends Error {}

/** Asks the webhooks of Mutating- and ValidatingWebhookConfigurations. Costs nothing while there are none. */
export function webhookAdmission(deps: WebhookDependencies): AdmissionPlugin & { close(): Promise<void> } {
  const index = new WebhookIndex(deps.api, deps.compile);
  const client = deps.client ?? webhookClient(deps);

  const cares = (webhook: Webhook, type: ResourceType, operation: string, subresource: string): boolean =>
    wantedType(webhook, type, operation, subresource, deps.registry) !== undefined;

  /** Asks one webhook, unless it does not care; undefined = nothing to do. */
  const ask = async (webhook: Webhook, request: AdmissionRequest): Promise<Asked | undefined> => {
    const { type, attributes } = request;
    const shown = wantedType(webhook, type, request.operation, attributes.subresource, deps.registry);
    if (shown === undefined || !selectorsMatch(webhook, request, deps.api)) return undefined;
    const object = await inVersion(type, request.object, shown);
    const oldObject = await inVersion(type, request.oldObject, shown);
    const uid = randomUuid(deps.random);
    const review = reviewRequest(request, shown, uid, { object, oldObject });
    const variables = { object: review["object"], oldObject: review["oldObject"], request: review };
    const access = webhook.conditions.length === 0 ? {} : accessVariables(deps.authorizer, attributes);
    if (!conditionsMatch(webhook, request, { ...variables, ...access })) return undefined;
    if (request.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun")
      throw badRequest(`admission webhook ${goQuote(webhook.name)} does not support dry run`);
    const answer = await call(client, webhook, uid, review);
    for (const warning of answer.warnings) request.warn(warning);
    if (!answer.allowed) throw deniedError(webhook.name, answer.status);
    return { answer, object, shown };
  };

  /** The same with failurePolicy applied. */
  const askByPolicy = async (webhook: Webhook, request: AdmissionRequest): Promise<Asked | undefined> => {
    try {
      return await ask(webhook, request);
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
      const invoked: Webhook[] = [];
      const again = new Set<Webhook>();
      for (const webhook of index.mutating()) {
        const asked = await askByPolicy(webhook, request);
        if (asked === undefined) continue;
        if (await applyAnswer(request, asked)) for (const earlier of invoked) again.add(earlier);
        if (webhook.reinvoke) invoked.push(webhook);
      }
      for (const webhook of again) {
        const asked = await askByPolicy(webhook, request);
        if (asked !== undefined) await applyAnswer(request, asked);
      }
    },

    async validate(request) {
      const results = await Promise.allSettled(index.validating().map((webhook) => askByPolicy(webhook, request)));
      for (const result of results) if (result.status === "rejected") throw result.reason;
    },

    close: async () => {
      index.close();
      await client.close();
    },
  };
}

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

/** Puts a webhook's patch into the request's object; true when it changed something. */
async function applyAnswer(request: AdmissionRequest, { answer, object, shown }: Asked): Promise<boolean> {
  if (answer.patch === undefined || object === undefined) return false;
  let patched: unknown;
  try {
    patched = applyJsonPatch(object, answer.patch);
  } catch (error) {
    throw internalError(error instanceof ApiError ? error.message : "the webhook's patch cannot be applied");
  }
  if (deepEqual(patched, object)) return false;
  request.object = await inVersion(shown, patched as Unstructured, request.type);
  return true;
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
