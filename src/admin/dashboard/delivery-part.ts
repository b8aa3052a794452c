import {
  ago,
  count,
  counted,
  duration,
  iso,
  outcomeWord,
  plainPause,
  withoutStop,
} from '../../core/format.ts';
import { OPERATOR } from '../../deliver/circuit-breaker.ts';
import { endOf, pauseAdvice } from '../../deliver/pause-rules.ts';
import { totalOrders } from '../../ledger/batches/batches.ts';
import {
  type BatchStanding,
  type BatchView,
  settledIn,
} from '../../operate/batches/list-batches.ts';
import { byWhom } from '../../operate/delivery/pause-delivery.ts';
import type { Status } from '../../operate/delivery/read-status.ts';
import type { Upload } from '../../operate/uploads/upload-shelf.ts';
import { OUTCOMES } from '../../order/outcome.ts';
import { type Html, html, timeText } from '../../report/page/html.ts';
import type { ApiContext } from '../api/api-context.ts';
import { readBatch } from '../api/batch-routes.ts';
import { agoText, badge, batchPath, link, shownStanding } from './parts.ts';

type Pause = Status['pauses'][number];

/** The state of delivery above every page. Only a fixed time: a page that stays open does not count on. */
export function pausedState(pause: Pause): Html {
  return html`${badge('bad', 'Paused')} since ${timeText(iso(pause.since))}${why(pause)}`;
}

const ENDS = {
  operator: 'It ends when somebody resumes delivery.',
  list: "It ends when the API's list has been read.",
  automatic: 'It ends automatically.',
} as const;

/** A pause with its age, what a person must do, and its end. */
export function pauseBox(pause: Pause, now: number): Html {
  const { since, seenAt = since } = pause;
  const code = pause.code === OPERATOR ? '' : ` (${pause.code})`;
  // As text only: with an element more, an open page would be loaded again.
  const seen = seenAt === since ? '' : `, last seen ${ago(seenAt, now)}`;
  const wait = (pause.nextTryAt ?? 0) - now;
  const next = wait >= 1_000 ? ` Next try in ${duration(wait)}.` : '';
  const advice = pauseAdvice(pause);
  const ends = ENDS[endOf(pause)];
  // What a person must do comes before the end that waits for it.
  const first = advice === undefined ? '' : `To do: ${advice}. `;
  const end = `${first}${pause.waitsForOrder ? 'No order waits. The next order is sent as a trial.' : `${advice === undefined ? ends : ends.replace(/^It ends automatically/, 'Then it ends automatically')}${next}`}`;
  const isTold = plainPause(pause).reason === pause.reason;
  const cause = isTold
    ? ''
    : ' Nothing is lost. Your operator sees the cause with po-sync status and in the log.';
  // No alert: a screen reader would announce each second that passes.
  return html`<div class="box bad"><strong>Paused</strong> since ${timeText(iso(since))} (${agoText(since, now)})${why(pause)}${code}${seen}
<br>${end}${cause}</div>`;
}

/** Orders of a file that have no outcome; undefined while it is read. */
function leftIn({ batch }: BatchView): number | undefined {
  const all = totalOrders(batch);
  return all === undefined ? undefined : all - settledIn(batch);
}

/** The pause for whose end orders of a file wait. */
function pauseOf(view: BatchView, { pauses: [pause] }: Pick<Status, 'pauses'>): Pause | undefined {
  const { batch, standing } = view;
  const isWaiting =
    batch.state !== 'done' && batch.unsettled === undefined && WAITING.includes(standing);
  return isWaiting && leftIn(view) !== 0 ? pause : undefined;
}

/** That orders of a file wait for the end of the pause that the header shows, or for the list; undefined where none does. */
export function waitingNote(view: BatchView, status: Status): Html | undefined {
  const pause = pauseOf(view, status);
  const left = leftIn(view);
  const { accepted } = view.batch.counts;
  const wait =
    left === undefined
      ? 'Its orders wait'
      : `${counted(left, 'order')} ${left === 1 ? 'waits' : 'wait'}`;
  if (pause === undefined) return undefined;
  const so =
    accepted === 0
      ? 'none is accepted yet'
      : `${count(accepted)} ${accepted === 1 ? 'is' : 'are'} accepted already`;
  const end = `${ENDS[endOf(pause)]} Then po-sync sends them: do not drop the file again.`;
  return html`<p class="box doubt" role="status"><strong>${wait}</strong>, ${so}: delivery is paused since ${timeText(iso(pause.since))}${why(pause)}. ${end}</p>`;
}

/** Where orders of a file can wait for a pause. The page of a held file says why it is held. */
const WAITING: readonly BatchStanding[] = ['reading', 'sending'];

/** Of each state of a batch. */
export const STANDING_TONES: Record<BatchStanding, Parameters<typeof badge>[0]> = {
  reading: 'quiet',
  sending: 'quiet',
  waiting: 'bad',
  finished: 'good',
  unreadable: 'bad',
};

/** A finished batch is green only if nothing in it needs a person, and if it was not cancelled. */
export function standingBadge(view: BatchView, status: Pick<Status, 'pauses'>): Html {
  if (pauseOf(view, status) !== undefined) return badge('doubt', 'waits: delivery is paused');
  const { unsettled, cancelled, open } = view.batch;
  if (view.over && open === 0) return badge('quiet', `${view.standing}, ${view.over}`);
  const end = open > 0 ? 'doubt' : cancelled ? 'quiet' : 'good';
  const tone = unsettled
    ? 'bad'
    : view.standing === 'finished'
      ? end
      : STANDING_TONES[view.standing];
  return badge(tone, shownStanding(view));
}

/** What became of a file that was sent. `refresh`: seconds, while more is to come. */
export async function sentPart(
  batch: string,
  { name }: Pick<Upload, 'name'>,
  api: ApiContext,
): Promise<{ shown: Html; refresh?: number }> {
  const view = await readBatch(api, batch).catch(() => undefined);
  const to = html`${link(batchPath(batch), `The page of ${name}`)} shows what became of each order.`;
  if (view === undefined) return { shown: html`<p class="box good">Sent. ${to}</p>` };
  const { counts, open, state } = view.batch;
  const found = OUTCOMES.filter((one) => counts[one] > 0).map(
    (one) => `${count(counts[one])} ${outcomeWord(one)}`,
  );
  const far = `${found.join(', ') || 'no outcome yet'}.`;
  if (state !== 'done') {
    const note = waitingNote(view, (await api.snapshot()).status);
    return {
      shown: html`<p class="box">Sent, in progress: ${far} The page updates automatically. ${to}</p>${note}`,
      refresh: 2,
    };
  }
  const left = open === 0 ? '' : ` ${count(open)} ${open === 1 ? 'needs' : 'need'} a person.`;
  return {
    shown: html`<p class="box ${open === 0 ? 'good' : 'bad'}">Finished: ${far}${left} ${to}</p>`,
  };
}

/** Who paused, as ` by anna: stock-taking`, or the reason after a colon. The script of the pages says the same. */
function why(pause: Pause): string {
  const { code, reason } = plainPause(pause);
  return code === OPERATOR ? ` ${byWhom(reason)}` : `: ${withoutStop(reason)}`;
}
