import { duration } from '../../core/format.ts';
import type { Pause } from '../../deliver/breaker-view.ts';
import { NEW_LEDGER } from '../../ledger/identity.ts';
import { endOf } from '../../operate/delivery/pause-delivery.ts';
import type { Wait } from '../../operate/orders/wait-of.ts';

/** What ends a pause, as a clause. */
export function pauseEndText(pause: Pick<Pause, 'code' | 'nextTryAt'>, now: number): string {
  if (pause.code === NEW_LEDGER) return "ends when the API's list has been read; po-sync resume starts without it";
  switch (endOf(pause)) {
    case 'operator':
      return 'until po-sync resume';
    case 'list':
      return "ends when the API's list has been read; without a list run po-sync reconcile";
    case 'automatic': {
      const wait = (pause.nextTryAt ?? 0) - now;
      return wait >= 1_000 ? `ends automatically, next try in ${duration(wait)}` : 'ends automatically';
    }
  }
}

/** What an order waits for, without its time. */
export function waitText({ for: kind, reason }: Pick<Wait, 'for' | 'reason'>): string {
  const why = reason === '' ? '' : `: ${reason}`;
  switch (kind) {
    case 'person':
      return 'a person';
    case 'release':
      return `the release of its batch${why}`;
    case 'daemon':
      return 'a daemon; none is running';
    case 'first-list':
      return `the API's list, before anything is sent${why}`;
    case 'pause':
      return `the end of the pause${why}`;
    case 'slow-down':
      return 'the end of a wait that the API asked for';
    case 'retry':
      return `its next attempt${why}`;
    case 'rate-limit':
      return 'its turn under the rate limit';
    case 'turn':
      return 'a free call';
    case 'answer':
      return `an answer of the API${why}`;
    case 'list':
      return `the API's list, to settle an unclear answer${why}`;
    case 'order':
      return 'the same order of another file';
    case 'unexamined':
      return 'not examined one by one';
  }
}

/** When a wait ends or is checked again, as a phrase; empty where no time is known. */
export function untilText({ until }: Pick<Wait, 'until'>, now: number): string {
  if (until === undefined) return '';
  return until - now < 1_000 ? 'now' : `in ${duration(until - now)}`;
}
