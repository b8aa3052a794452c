import { duration } from '../../core/format.ts';
import { NEW_LEDGER } from '../../ledger/identity.ts';
import { endOf, type ShownPause } from '../../operate/delivery/pause-delivery.ts';

type EndingPause = Pick<ShownPause, 'code' | 'nextTryAt' | 'waitsForOrder'>;

/** What ends a pause, as a clause. */
export function pauseEndText(pause: EndingPause, now: number): string {
  if (pause.code === NEW_LEDGER) return "ends when the API's list has been read; po-sync resume starts without it";
  const after = adviceFor(pause.code);
  switch (endOf(pause)) {
    case 'operator':
      return 'until po-sync resume';
    case 'list':
      return "ends when the API's list has been read; without a list run po-sync reconcile --repair --without-list";
    case 'automatic': {
      if (pause.waitsForOrder) return `no order waits to be sent; the next order is sent as a trial${after}`;
      const wait = (pause.nextTryAt ?? 0) - now;
      return `${wait >= 1_000 ? `ends automatically, next try in ${duration(wait)}` : 'ends automatically'}${after}`;
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

/** What a person can do about a pause that a failure would otherwise only repeat. */
function adviceFor(code: string): string {
  if (code === 'token-refused') return '; restart the daemon after a change of the credentials';
  if (code === 'token-not-accepted') return '; check that authUrl and baseUrl belong to the same environment';
  return /^http-(3..|403|404|405)$/.test(code) ? '; check baseUrl and what this client may do at the API' : '';
}
