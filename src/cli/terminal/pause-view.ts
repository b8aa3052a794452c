import { clauses, duration } from '../../core/format.ts';
import { NEW_LEDGER } from '../../ledger/identity.ts';
import { endOf, pauseAdvice, type ShownPause } from '../../operate/delivery/pause-delivery.ts';

type EndingPause = Pick<ShownPause, 'code' | 'nextTryAt' | 'waitsForOrder'>;

/** What ends a pause, as a clause. */
export function pauseEndText(pause: EndingPause, now: number): string {
  if (pause.code === NEW_LEDGER) return "ends when the API's list has been read; po-sync resume starts without it";
  const advice = pauseAdvice(pause.code);
  const first = advice === undefined ? '' : `${advice}; then it `;
  switch (endOf(pause)) {
    case 'operator':
      return 'until po-sync resume';
    case 'list':
      return "ends when the API's list has been read; without a list run po-sync reconcile --repair --without-list";
    case 'automatic': {
      if (pause.waitsForOrder)
        return clauses(advice ?? '', 'no order waits to be sent; the next order is sent as a trial');
      const wait = (pause.nextTryAt ?? 0) - now;
      return `${first}ends automatically${wait >= 1_000 ? `, next try in ${duration(wait)}` : ''}`;
    }
  }
}

/** What ends a pause, and that a person need not wait for the next try after a repair. */
export function pauseStepsText(pause: EndingPause, now: number): string {
  const isDue = (pause.nextTryAt ?? 0) - now < 1_000;
  // New credentials are read at a start only.
  const needsNoResume = endOf(pause) !== 'automatic' || pause.waitsForOrder || isDue || pause.code === 'token-refused';
  return `${pauseEndText(pause, now)}${needsNoResume ? '' : '; po-sync resume tries one order at once'}`;
}
