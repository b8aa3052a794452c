import type { Clock } from '../../core/clock.ts';
import { claimTimeOf } from '../../order/batch.ts';
import { escapeHidden } from '../../order/text.ts';
import type { Tracer } from '../tracer.ts';
import { deriveIds, type EndedSpan, type Recorder } from './span.ts';

/** Batches whose times are remembered. Another process, or a restart, knows only when the file was claimed. */
const REMEMBERED = 1_000;

type FileTracer = Pick<Tracer, 'claimed' | 'inspected' | 'admitted' | 'unreadable' | 'finished'>;

type FileSpansDeps = { recorder: Recorder; clock: Clock; batches: BatchTimes; environment: string };

/** Records the trace of a file, to which the traces of its orders link. */
export function createFileSpans({
  recorder,
  clock,
  batches,
  environment,
}: FileSpansDeps): FileTracer {
  function step(
    batch: string,
    name: string,
    [from, to]: [number, number],
    attributes: EndedSpan['attributes'] = {},
  ) {
    const parent = deriveIds(environment, batch);
    if (recorder.isSampled(parent.traceId)) recorder.record({ name, parent, from, to, attributes });
  }

  return {
    claimed: batches.claimed,
    inspected({ batch, records, bytes }) {
      const times = batches.of(batch);
      times.inspected = clock.now();
      const attributes = { 'po_sync.records': records, 'po_sync.bytes': bytes };
      step(batch, 'inspect file', [times.claimed, times.inspected], attributes);
    },
    admitted({ batch, orders }) {
      const times = batches.of(batch);
      times.admitted = clock.now();
      const from = times.inspected ?? times.claimed;
      step(batch, 'admit orders', [from, times.admitted], { 'po_sync.orders': orders });
    },
    unreadable({ batch, code }) {
      batches.of(batch).error = code;
    },
    finished({ batch, source, file, orders, accepted, needPerson, durationMs }) {
      const times = batches.of(batch);
      const to = clock.now();
      const settled = Math.min(to, times.claimed + durationMs);
      if (times.admitted !== undefined) step(batch, 'deliver orders', [times.admitted, settled]);
      step(batch, 'write report', [settled, to]);
      const ids = deriveIds(environment, batch);
      const counts = {
        'po_sync.orders': orders,
        'po_sync.accepted': accepted,
        'po_sync.need_person': needPerson,
      };
      const about = {
        'po_sync.batch': batch,
        'po_sync.source': source,
        'po_sync.file': escapeHidden(file),
      };
      const { claimed: from, error } = times;
      const attributes = { ...about, ...counts };
      if (recorder.isSampled(ids.traceId))
        recorder.record({ name: 'file', ids, from, to, attributes, error });
      batches.forget(batch);
    },
  };
}

export type BatchTimes = ReturnType<typeof createBatchTimes>;

/** Times of the files that this process handles, in milliseconds since 1970. */
export function createBatchTimes(clock: Clock) {
  const known = new Map<
    string,
    { claimed: number; inspected?: number; admitted?: number; error?: string }
  >();

  function of(batch: string) {
    const times = known.get(batch) ?? { claimed: claimTimeOf(batch) ?? clock.now() };
    known.set(batch, times);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return times;
  }

  return {
    of,
    claimed(batch: string): void {
      of(batch).claimed = clock.now();
    },
    forget: (batch: string) => void known.delete(batch),
  };
}
