import type { Clock } from '../../core/clock.ts';
import { needsPerson, type Outcome } from '../../order/outcome.ts';
import { escapeHidden } from '../../order/text.ts';
import type { AttemptTrace, TracedOrder, Tracer } from '../tracer.ts';
import { type BatchTimes, createBatchTimes, createFileSpans } from './file-spans.ts';
import {
  deriveIds,
  type EndedSpan,
  type Recorder,
  requestSpan,
  type SpanIds,
  traceparentOf,
  wordOf,
} from './span.ts';

type OrderSpansDeps = {
  recorder: Recorder;
  clock: Clock;
  environment: string;
  /** The address that orders are sent to. */
  url: URL;
  /** Whether the API receives the header `traceparent`. */
  traceparent: boolean;
};

type Recording = OrderSpansDeps & { batches: BatchTimes };

/** What identifies the trace of an order. */
type Identified = Pick<TracedOrder, 'batch' | 'order' | 'place'>;

const LONGEST_NUMBER = 256;

/**
 * Turns the events of orders and files into spans. The identifiers of a trace follow from environment, batch, order number
 * and line, so every process continues the trace and nothing is stored.
 */
export function createOrderSpans(deps: OrderSpansDeps): Tracer {
  const { recorder, clock, environment } = deps;
  const recording = { ...deps, batches: createBatchTimes(clock) };
  let lastList: SpanIds | undefined;

  function recordDoubt(order: TracedOrder, at: number, outcome: string): void {
    const to = clock.now();
    recorder.record({
      name: 'verify',
      parent: rootOf(recording, order),
      from: to - at + (order.maybeSentAt ?? at),
      to,
      attributes: { 'po_sync.verify.outcome': outcome },
      ...(lastList && { link: lastList }),
    });
  }

  return {
    attempt: (order, now) => beginAttempt(recording, order, now),
    doubtEnded(order, at) {
      if (isSampled(recording, order)) recordDoubt(order, at, 'absent');
    },
    settled(order, outcome, at) {
      if (!isSampled(recording, order)) return;
      if (order.state === 'unknown') recordDoubt(order, at, outcome);
      recordOrder(recording, order, { outcome, attempts: order.attempt });
    },
    notAdmitted({ batch, order, line, outcome, code }) {
      const identified = { batch, order: { purchaseOrderNumber: order }, place: { line } };
      if (isSampled(recording, identified))
        recordOrder(recording, identified, { outcome, code, attempts: 0 });
    },
    request(operation, method, url, status, ms) {
      if (operation === 'create') return;
      const to = clock.now();
      const ids = recorder.record(requestSpan(method, url, status, { from: to - ms, to }));
      if (operation === 'list') lastList = ids;
    },
    ...createFileSpans({ recorder, clock, environment, batches: recording.batches }),
    counts: recorder.counts,
  };
}

function rootOf({ environment }: Recording, { batch, order, place }: Identified): SpanIds {
  return deriveIds(environment, batch, order.purchaseOrderNumber, String(place.line));
}

function isSampled(recording: Recording, order: Identified): boolean {
  return recording.recorder.isSampled(rootOf(recording, order).traceId);
}

/** The root span of an order that has its outcome. */
function recordOrder(
  recording: Recording,
  order: Identified,
  end: { outcome: string; code?: string; attempts: number },
) {
  const { recorder, clock, batches, environment } = recording;
  const { batch, place } = order;
  recorder.record({
    name: 'order',
    ids: rootOf(recording, order),
    from: batches.of(batch).claimed,
    to: clock.now(),
    attributes: {
      'po_sync.batch': batch,
      'po_sync.order': escapeHidden(order.order.purchaseOrderNumber.slice(0, LONGEST_NUMBER)),
      'po_sync.line': place.line,
      'po_sync.outcome': end.outcome,
      'po_sync.attempts': end.attempts,
    },
    error: needsPerson(end.outcome as Outcome) ? wordOf(end.code ?? end.outcome) : undefined,
    link: deriveIds(environment, batch),
  });
}

function beginAttempt(
  recording: Recording,
  order: TracedOrder,
  now: number,
): AttemptTrace | undefined {
  const { recorder, clock, traceparent, url } = recording;
  const root = rootOf(recording, order);
  const isWanted = recorder.isSampled(root.traceId);
  if (!isWanted && !traceparent) return undefined;
  const own = { ...root, spanId: recorder.newSpanId() };
  const call = { ...root, spanId: recorder.newSpanId() };
  const headers = traceparent ? { traceparent: traceparentOf(call, isWanted) } : {};
  if (!isWanted) return { headers, request: () => undefined, ended: () => undefined };
  const ahead = clock.now() - now;
  let request: EndedSpan | undefined;
  return {
    headers,
    request(status, ms) {
      const to = clock.now();
      const { attributes, ...span } = requestSpan('POST', url, status, { from: to - ms, to });
      const resent = order.attempt > 0 ? { 'http.request.resend_count': order.attempt } : {};
      request = { ...span, ids: call, parent: own, attributes: { ...attributes, ...resent } };
    },
    ended({ attempt: number, durationMs, outcome, code }) {
      const to = clock.now();
      const from = to - durationMs;
      recordWait(recording, order, { ahead, to: from });
      if (request !== undefined) recorder.record(request);
      const attributes = { 'po_sync.attempt': number, 'po_sync.attempt.outcome': outcome };
      const error = outcome === 'accepted' ? undefined : wordOf(code ?? outcome);
      recorder.record({ name: 'attempt', ids: own, parent: root, from, to, attributes, error });
    },
  };
}

/** The time before an attempt: from admission, or since the last attempt. `ahead`: of this machine's clock over ledger time. */
function recordWait(
  recording: Recording,
  order: TracedOrder,
  { ahead, to }: { ahead: number; to: number },
): void {
  const { recorder, batches, environment } = recording;
  const parent = rootOf(recording, order);
  const last = order.history?.at(-1);
  const from = ahead + (last?.at ?? order.version);
  if (last === undefined && order.attempt === 0) {
    const { claimed } = batches.of(order.batch);
    const link = deriveIds(environment, order.batch);
    recorder.record({ name: 'admit', parent, from: claimed, to: from, attributes: {}, link });
  }
  const after = last === undefined ? 'admission' : wordOf(last.code);
  const attributes = { 'po_sync.attempt': order.attempt + 1, 'po_sync.wait.after': after };
  recorder.record({ name: 'queued', parent, from, to, attributes });
}
