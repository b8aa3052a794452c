import { withStatus } from '../api/classify.ts';
import { listRemedy } from '../api/list.ts';
import { clauses, duration, orders, withoutStop } from '../core/format.ts';
import {
  type Answer,
  type Loss,
  OPERATOR,
  type OwnCause,
  type PauseCause,
  type PauseFacts,
  waitsForList,
} from '../ledger/pause-cause.ts';
import { asText, type Sentence, sentence } from '../order/sentence.ts';

/** Why the ledger does not know everything that was sent. */
const LOSSES: Readonly<Record<Loss, string>> = {
  'rolled-back': 'Redis lost part of the ledger',
  emptied:
    'this Redis has no ledger, but the folder `data` knows one: it is another Redis, or it lost its data',
  copied: 'the folder `data` was copied or restored',
  returned: 'another ledger was used with this folder `data` meanwhile',
};

/** The same as a clause. */
export const lossText = (loss: Loss): Sentence => sentence(LOSSES[loss]);

const EXPECT = 'say with po-sync reconcile --expect N how many orders the API has';

/** The clause for each code of po-sync. */
const SENTENCES: { [Code in keyof PauseFacts]: (facts: PauseFacts[Code]) => string } = {
  operator: ({ who, why }) => `paused by ${who}${why === undefined ? '' : `: ${why}`}`,
  'ledger-new': ({ says, answer = '', ...facts }) =>
    says === undefined
      ? "a new ledger reads the API's list before its first order"
      : unreadText({ says, answer, ...facts }),
  'ledger-rolled-back': ({ loss }) =>
    `${loss === undefined ? 'the ledger does not know all that was sent' : LOSSES[loss]}; a daemon that takes files reads the reports first, then the API's list is read`,
  'list-unproved': ({ says, answer = '', order, ...facts }) =>
    says === undefined
      ? `order ${order} of a new ledger is sent first: the API's list must show it`
      : unshownText({ says, answer, order, ...facts }),
  'list-incomplete': (facts) => {
    const shown = orders(facts.shown);
    if ('expected' in facts)
      return `the API's list is not complete: it shows ${shown} of ${facts.expected}`;
    if ('gone' in facts)
      return `the API's list shows ${shown}, without ${orders(facts.gone)} that it showed; ${EXPECT}`;
    return `the API's list showed ${orders(facts.before)}, order ${facts.order} was sent, and it shows ${shown}, without that order or without others that it showed`;
  },
  'list-unstable': unreadText,
  'list-unconfirmed': ({ shown }) => `the API's list shows ${orders(shown)}; ${EXPECT}`,
  'list-not-offered': ({ order, ...answer }) =>
    order === undefined
      ? `the API does not offer its list: ${answerClause(answer)}. ${withoutStop(listRemedy(answer))}`
      : unshownText({ order, ...answer }),
};

/** What was answered, as a clause. */
export function answerText(answer: Answer): Sentence {
  return sentence(answerClause(answer));
}

function answerClause({ says: message, answer: code, httpStatus }: Answer): string {
  const status = httpStatus === undefined ? {} : { httpStatus };
  return withoutStop(withStatus({ code, message, ...status }));
}

function unreadText(answer: Answer): string {
  return `the API's list cannot be read yet: ${answerClause(answer)}`;
}

function unshownText({ order, ...answer }: Answer & { order: string }): string {
  return `order ${order} was sent, and the API's list, which must show it, cannot be read: ${answerClause(answer)}`;
}

const isOwn = (cause: PauseCause): cause is OwnCause => Object.hasOwn(SENTENCES, cause.code);

function ownText<Code extends keyof PauseFacts>(code: Code, facts: PauseFacts[Code]): string {
  return SENTENCES[code](facts);
}

/** Why delivery is paused, as a clause. */
export function pauseText(cause: PauseCause): Sentence {
  return sentence(withoutStop(clauseOf(cause)));
}

function clauseOf(cause: PauseCause): string {
  if (isOwn(cause)) return ownText(cause.code, cause.facts);
  const { says: message, answer, askedMs = 0, isYoung, ...status } = cause.facts;
  return clauses(
    isYoung ? 'the API does not accept fresh tokens yet' : '',
    withStatus({ code: answer, message, ...status }),
    cause.code === 'answers-unclear' ? 'the list will show whether the orders were created' : '',
    askedMs > 0 ? `the API asks to wait ${Math.ceil(askedMs / 1000)} s` : '',
  );
}

/** A pause as facts and, for people, in a clause. */
export function pauseFacts({ code, facts }: PauseCause): PauseCause & { message: Sentence } {
  const cause = { code, facts } as PauseCause;
  return { ...cause, message: pauseText(cause) };
}

/** That delivery is paused, by whom or why. */
export function causeText(cause: PauseCause): Sentence {
  return pausedFor(cause, '');
}

// The clause about an operator says that it is a pause.
function pausedFor(cause: PauseCause, span: string): Sentence {
  const why = asText(pauseText(cause));
  return sentence(
    cause.code === OPERATOR
      ? `${why}${span && `, ${span}`}`
      : `paused ${span && `${span} `}(${cause.code}): ${why}`,
  );
}

/** The same, and for how long. */
export function pausedText(pause: PauseCause & { since: number }, now: number): Sentence {
  return pausedFor(pause, `for ${duration(Math.max(0, now - pause.since))}`);
}

/** What ending a pause led to, in sentences that are still right when the call that follows has its answer. */
export function resumedText({ pauses }: { pauses: readonly PauseCause[] }): string {
  const lasting = pauses.filter(({ code }) => code === OPERATOR || waitsForList(code));
  const left = clauses(...lasting.map(clauseOf));
  if (left !== '') return `Delivery is still paused: ${left}.`;
  if (pauses.length === 0) return 'Delivery is running.';
  return 'po-sync calls the API once more now: delivery continues when it accepts an order. The top of each page shows whether it does.';
}

const CONFIRM =
  "ends when the API's list shows what it must; po-sync reconcile --expect N says how many orders there are";

/** What ends a pause that does not end with the next order that the API accepts. */
const ENDS: Readonly<Record<OwnCause['code'], string>> = {
  operator: 'ends with po-sync resume',
  'ledger-new': "ends when the API's list has been read",
  'ledger-rolled-back': "ends when the API's list has been read",
  'list-unproved': "ends when the API's list shows the order that was sent",
  'list-incomplete': CONFIRM,
  'list-unstable': "ends when the API's list has been read",
  'list-unconfirmed': CONFIRM,
  'list-not-offered':
    'ends when the API offers its list; without one set list: none; after a loss run po-sync reconcile --repair then',
};

/** What a person must do about a pause that every trial would otherwise only repeat. */
const REMEDIES: Readonly<Record<string, string>> = {
  'token-refused':
    'check the credentials, scope, audience and clientAuth (po-sync doctor says which), and restart the daemon after a change of them',
  'token-not-accepted':
    'check that authUrl and baseUrl belong to the same environment, and that their clocks agree',
  'answers-unclear': 'check that baseUrl leads to the API',
  'http-3xx': 'set baseUrl to the address of the API: this one redirects',
  'http-403': 'check what this client may do at the API',
  'http-404': 'check baseUrl',
  'http-405': 'check baseUrl',
};

/** What ends a pause that waits for a person or the list, as a clause; undefined: it ends automatically. */
export function pauseEnd(code: string): string | undefined {
  return (ENDS as Readonly<Record<string, string>>)[code];
}

/** What a person must do about one that ends automatically; undefined where nothing is to do. */
export function pauseAdvice(code: string): string | undefined {
  return REMEDIES[code.replace(/^http-3..$/, 'http-3xx')];
}

/** What ends a pause and what a person does about it, in a sentence. */
export function pauseRemedy(code: string): string {
  const end = pauseEnd(code);
  if (end !== undefined) return `It ${end}.`;
  const advice = pauseAdvice(code);
  const begin =
    advice === undefined
      ? 'If it lasts, run po-sync doctor; it'
      : `${advice.slice(0, 1).toUpperCase()}${advice.slice(1)}; then it`;
  return `${begin} ends automatically when the API accepts an order.`;
}
