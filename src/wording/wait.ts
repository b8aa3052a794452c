import {
  clauses,
  count,
  duration,
  orders as ordersOf,
  stamp,
  withoutStop,
} from '../core/format.ts';
import type { ListFailure, WaitCause, WaitFacts, WaitKind } from '../ledger/wait-cause.ts';
import { asText, type Sentence, sentence } from '../order/sentence.ts';
import { fileWaitText } from './file-wait.ts';
import { answerText, pauseText } from './pause.ts';

const LACKS: Record<WaitFacts['daemon']['lacks'], string> = {
  all: 'a daemon; none is running',
  intake: 'a daemon that reads files; none is running',
  delivery: 'a daemon that delivers; none is running',
  heartbeat: 'a daemon; none sends a heartbeat',
};

/** What it waits for, and why. */
type Clause = readonly [what: string, why?: string | undefined];

const SENTENCES: { [Code in WaitKind]: (facts: WaitFacts[Code]) => Clause } = {
  person: () => ['a person'],
  release: (wait) => ['the release of its batch', asText(fileWaitText(wait))],
  daemon: ({ lacks }) => [LACKS[lacks]],
  'first-list': (cause) => ["the API's list, before anything is sent", asText(pauseText(cause))],
  pause: (cause) => ['the end of the pause', asText(pauseText(cause))],
  'slow-down': () => ['the end of a wait that the API asked for'],
  redis: () => ['a connection to Redis that lasts'],
  retry: ({ says }) => ['its next attempt', says],
  'rate-limit': () => ['its turn under the rate limit'],
  turn: () => ['a free slot for a call'],
  file: ({ reason }) => ['the file of its batch', reason],
  answer: ({ attempt }) => [
    'an answer of the API',
    `attempt ${attempt} is in flight or about to be sent`,
  ],
  list: (facts) => ["the API's list, to settle an unclear answer", listReason(facts)],
  'file-list': ({ failure }) => [
    "the API's list, before the orders of a new file",
    failure && failureText(failure),
  ],
  order: () => ['the same order of another file'],
  unexamined: () => ['not examined one by one'],
};

function listReason(facts: WaitFacts['list']): string | undefined {
  if ('failure' in facts) return failureText(facts.failure);
  if ('attempt' in facts) return `the process of attempt ${facts.attempt} sends no heartbeat`;
  return facts.says;
}

function failureText({ since, ...answer }: ListFailure): string {
  return `every read of it since ${stamp(since)} failed: ${asText(answerText(answer))}`;
}

function clauseOf<Code extends WaitKind>(code: Code, facts: WaitFacts[Code]): Clause {
  return SENTENCES[code](facts);
}

/** Why it waits, as far as it is known. */
export function waitReason({ code, facts }: WaitCause): Sentence | undefined {
  const why = withoutStop(clauseOf(code, facts)[1] ?? '');
  return why === '' ? undefined : sentence(why);
}

type Waiting = WaitCause & { orders?: number; unread?: number };

/** What an order waits for, without the reason. `unread`: orders of the same files that are not read yet. */
export function waitInShort({ code, facts, orders, unread = 0 }: Waiting): Sentence {
  const [what] = clauseOf(code, facts);
  const are = unread === 1 ? 'is' : 'are';
  const more =
    orders === 0
      ? `${ordersOf(unread)} ${are} not read yet`
      : `${count(unread)} more ${are} read then`;
  return sentence(unread > 0 ? `${what} (${more})` : what);
}

/** What an order waits for, without its time. */
export function waitText(wait: Waiting): Sentence {
  const why = waitReason(wait);
  return sentence(`${asText(waitInShort(wait))}${why ? `: ${asText(why)}` : ''}`);
}

type Timed = { code: WaitKind; until?: number };

/** Whether one try, of an order or the list, is made now, which may end the wait or not. */
function isTried({ code, until = Number.POSITIVE_INFINITY }: Timed, now: number): boolean {
  return until - now < 1_000 && (code === 'pause' || code === 'list' || code === 'file-list');
}

/** What an order waits for and when that is checked again, as a clause. */
export function waitClause(wait: WaitCause & Timed, now: number): Sentence {
  const isChecked = wait.until !== undefined && !isTried(wait, now);
  const check = isChecked ? `next check ${untilText(wait, now)}` : '';
  return sentence(clauses(asText(waitText(wait)), check));
}

/** When a wait ends or is checked again, as a phrase; empty where no time is known. */
export function untilText(wait: Timed, now: number): string {
  const { until } = wait;
  if (until === undefined) return '';
  if (until - now >= 1_000) return `in ${duration(until - now)}`;
  return isTried(wait, now) ? 'being tried now' : 'now';
}

/** A wait in JSON output, without its time. */
export function waitFacts<Kind extends Waiting>(wait: Kind): Kind & { message: Sentence } {
  return { ...wait, message: waitText(wait) };
}
