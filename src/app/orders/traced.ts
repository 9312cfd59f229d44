// A trace begins where an order comes in, whichever way.

import { type Denial, isDenial } from '../../domain/denial.ts';
import { type Span, type Tracing, traceNames } from '../../domain/tracing.ts';
import { type DashboardDeps, type DashboardOrder, placeDashboardOrder } from './dashboard-order.ts';
import type { Placed } from './place-order.ts';
import { receiveWebhook, type WebhookDeps, type WebhookRequest } from './receive-webhook.ts';
import type { Synced } from './sync.ts';

type Traced<Deps> = Deps & { readonly tracing: Tracing };

export const receiveTraced = (deps: Traced<WebhookDeps>, request: WebhookRequest) =>
  deps.tracing.request('webhook', request.traceparent ?? null, async (span) =>
    told(span, request.context.requestId, await receiveWebhook(deps, request)),
  );

export const placeTraced = (deps: Traced<DashboardDeps>, request: DashboardOrder) =>
  deps.tracing.request('dashboard order', null, async (span) =>
    told(span, request.context.requestId, await placeDashboardOrder(deps, request)),
  );

function told<Outcome extends Denial | Placed | Synced>(
  span: Span,
  requestId: string,
  outcome: Outcome,
): Outcome {
  const order = isDenial(outcome) ? null : outcome.order;
  const became = isDenial(outcome) ? outcome.code : (order?.status ?? 'in_sync');
  span.set({
    'fillpath.request_id': requestId,
    'fillpath.outcome': became,
    ...(order ? traceNames(order) : {}),
  });
  return outcome;
}
