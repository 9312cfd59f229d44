// A trace begins where an order comes in, whichever way.

import { isDenial } from '../../domain/denial.ts';
import { type Span, type Tracing, traceNames } from '../../domain/tracing.ts';
import { type DashboardDeps, type DashboardOrder, placeDashboardOrder } from './dashboard-order.ts';
import {
  receiveWebhook,
  type WebhookDeps,
  type WebhookOutcome,
  type WebhookRequest,
} from './receive-webhook.ts';

type Traced<Deps> = Deps & { readonly tracing: Tracing };

export const receiveTraced = (deps: Traced<WebhookDeps>, request: WebhookRequest) =>
  deps.tracing.request('webhook', request.traceparent ?? null, async (span) =>
    told(span, request.context.requestId, await receiveWebhook(deps, request)),
  );

export const placeTraced = (deps: Traced<DashboardDeps>, request: DashboardOrder) =>
  deps.tracing.request('dashboard order', null, async (span) =>
    told(span, request.context.requestId, await placeDashboardOrder(deps, request)),
  );

function told<Outcome extends WebhookOutcome>(span: Span, requestId: string, outcome: Outcome): Outcome {
  const order = 'order' in outcome ? outcome.order : null;
  const became = isDenial(outcome)
    ? outcome.code
    : 'groupId' in outcome
      ? (outcome.denial?.code ?? 'group')
      : (order?.status ?? 'in_sync');
  span.set({
    'fillpath.request_id': requestId,
    'fillpath.outcome': became,
    ...(order ? traceNames(order) : {}),
  });
  return outcome;
}
