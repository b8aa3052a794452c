import { type Answer, type Entry, isSameContent, type Listed } from '../entry.ts';
import { deadStep, IGNORE, type ListEvent, type Policy, type Step } from './step.ts';

type Event<Kind extends ListEvent['kind']> = Extract<ListEvent, { kind: Kind }>;

/** Doubt ends with a person after this many settle times without a conclusive list. */
export const PATIENCE = 10;

/** So many lists that lack an order, a settle apart, prove that it is absent. */
export const ABSENCES = 2;

/** And not before this many inconclusive lists in a row: a daemon that was stopped has read none. */
const LEAST_LISTS = 3;

const OTHER_CONTENT = {
  code: 'other-content',
  message: 'the API already has this number with different items',
};

/** What a read of the API's list makes of an order. */
export function listed(entry: Entry, event: ListEvent, policy: Policy): Step {
  if (event.kind === 'found') return found(entry, event);
  if (entry.state !== 'unknown') return IGNORE;
  switch (event.kind) {
    case 'absent':
      return absent(entry, event, policy);
    case 'inconclusive':
      return inconclusive(entry, event, policy);
    case 'unlistable':
      return deadStep(entry, 'inDoubt', event.at, event.answer);
  }
}

/**
 * The same content settles an order in any state; other content is a conflict, and the entry remembers it. In another spelling,
 * an order proves nothing: where an attempt may have created it, only a person knows.
 */
function found(
  entry: Entry,
  { at, listed: shown, as, times = 1, isIntact = false }: Event<'found'>,
): Step {
  if (as !== undefined) return respelled(entry, shown, as, at);
  if (isSameContent(shown.digest, entry.digest)) {
    const isEarlier = isIntact && entry.attempt === 0;
    return {
      kind: 'accept',
      attempts: entry.attempt,
      at,
      since: entry.firstAt,
      ...(times > 1 ? { times } : {}),
      ...(isEarlier ? { isEarlier } : {}),
    };
  }
  switch (entry.state) {
    case 'unknown':
    case 'queued':
    case 'retry':
    case 'conflict':
    // After a rollback the ledger may remember the refusal only, and not the corrected order that the API took since.
    case 'refused':
    case 'failed':
      return conflict(entry, shown, at);
    case 'sending':
    case 'inDoubt':
      return IGNORE;
  }
}

function respelled(entry: Entry, shown: Listed, as: string, at: number): Step {
  const answer = { code: 'other-number', message: `the list shows this number as "${as}" only` };
  switch (entry.state) {
    case 'unknown':
      return deadStep(entry, 'inDoubt', at, answer);
    case 'queued':
    case 'retry':
      return entry.maybeSentAt === undefined
        ? conflict(entry, shown, at, answer)
        : deadStep(entry, 'inDoubt', at, answer);
    case 'refused':
    case 'failed':
      return conflict(entry, shown, at, answer);
    case 'conflict':
    case 'sending':
    case 'inDoubt':
      return IGNORE;
  }
}

function conflict(entry: Entry, known: Listed, at: number, answer: Answer = OTHER_CONTENT): Step {
  if (entry.state === 'conflict' && entry.known?.digest === known.digest) return IGNORE;
  return deadStep({ ...entry, known }, 'conflict', at, answer);
}

/** Absence counts from lists that began a settle after the attempt, and a settle apart from each other. */
function absent(entry: Entry, event: Event<'absent'>, policy: Policy): Step {
  const { listedFrom, at, isWatched = true, isAlone } = event;
  if (listedFrom < (entry.maybeSentAt ?? 0) + policy.settle) return IGNORE;
  if (entry.absentAt !== undefined && listedFrom < entry.absentAt + policy.settle) return IGNORE;
  if (!isWatched) return { kind: 'move', entry, doubt: listedFrom + policy.settle };
  const { askedSince: _, absentAt: __, isAlone: ___, ...rest } = entry;
  const absences = entry.absences + 1;
  if (absences < ABSENCES) {
    const waiting = { ...rest, absences, absentAt: listedFrom };
    return { kind: 'move', entry: waiting, doubt: listedFrom + policy.settle };
  }
  // The API said that it created something for this order: its absence under this number proves nothing.
  if (entry.misnamed) return deadStep(rest, 'inDoubt', at, entry.answer);
  if (entry.refusal) return deadStep(rest, 'refused', at, entry.refusal);
  if (entry.used >= policy.attempts) return deadStep(rest, 'failed', at, entry.answer);
  const alone = isAlone ? { isAlone } : {};
  const again: Entry = { ...rest, ...alone, state: 'retry', job: '', absences: 0 };
  return { kind: 'move', entry: again, due: at + policy.backoff(entry.used) };
}

function inconclusive(entry: Entry, event: Event<'inconclusive'>, policy: Policy): Step {
  const { at, listedFrom, inARow, answer, isAway = false } = event;
  const { askedSince } = entry;
  // The wait begins again: neither an outage nor the order that is tried first must leave others to a person.
  const beginsAgain =
    isAway && askedSince !== undefined && listedFrom - askedSince >= policy.settle;
  if (askedSince === undefined || beginsAgain)
    return { kind: 'move', entry: { ...entry, askedSince: listedFrom }, doubt: at };
  const isOver = listedFrom - askedSince >= PATIENCE * policy.settle && inARow >= LEAST_LISTS;
  return isOver ? deadStep(entry, 'inDoubt', at, answer) : IGNORE;
}
