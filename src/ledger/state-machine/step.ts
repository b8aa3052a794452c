import type { Answer, Entry, Listed, Occurrence } from '../entry.ts';

/** What one attempt showed about its order. */
export type Verdict =
  | { kind: 'accepted' }
  | { kind: 'refused'; answer: Answer }
  /**
   * `free`: the attempt failed for a reason other than this order and does not use up its budget. `isSuccess`: a success
   * answer that does not name the order; sent again, it would be answered in the same way.
   */
  | { kind: 'unknown'; answer: Answer; free?: boolean; isSuccess?: boolean }
  /** A complete success answer that names another number: the API created something, and the list does not show what. */
  | { kind: 'misnamed'; answer: Answer }
  /**
   * Says nothing final about the order: it is sent again at `until`. `isUnsent`: no byte was written. `counts`: it uses up
   * the order's budget. `turnedAway`: a status that says nothing about orders, while the API accepted others since this
   * order's last attempt.
   */
  | {
      kind: 'postponed';
      answer: Answer;
      until: number;
      isUnsent?: boolean;
      counts?: boolean;
      turnedAway?: boolean;
    };

/** Everything that can happen to an order in the ledger. `at` is ledger time in milliseconds. */
export type LedgerEvent =
  /** An attempt is about to be sent; after `deadline` nothing of it is in flight. */
  | { kind: 'begin'; at: number; deadline: number }
  | { kind: 'answered'; at: number; attempt: number; verdict: Verdict }
  /** The attempt that `before` began ends before its first byte: only for the process that would have written it. */
  | { kind: 'giveBack'; at: number; before: Entry }
  /** The deadline of the attempt has passed without a recorded answer. */
  | { kind: 'lapsed'; at: number }
  /** The sweeper gives the order a new job: it is due, or the queue lost its job. */
  | { kind: 'requeue'; at: number; job: string }
  | ListEvent
  | Decision;

/** What a read of the API's list, begun at `listedFrom`, says about an order. */
export type ListEvent =
  /**
   * The list shows the number, `times` times; `as`: in another spelling only. `isIntact`: the ledger lost nothing, so what it
   * never sent was created by others.
   */
  | { kind: 'found'; at: number; listed: Listed; as?: string; times?: number; isIntact?: boolean }
  /**
   * The list is good evidence and does not show the number. Not `isWatched`: who read it cannot know how long the order waited
   * for it. `isAlone`: it may hide the order, which is sent again all the same, with no other one.
   */
  | {
      kind: 'absent';
      at: number;
      listedFrom: number;
      isWatched?: boolean;
      isAlone?: true;
    }
  /** The list could not be read, or proves nothing; `inARow` lists in a row. `isAway`: the API takes no order at all now, or another order is tried first. */
  | {
      kind: 'inconclusive';
      at: number;
      listedFrom: number;
      inARow: number;
      answer: Answer;
      isAway?: boolean;
    }
  /** The API does not offer a list. */
  | { kind: 'unlistable'; at: number; answer: Answer };

/** What a person decides about an order. */
export type Decision =
  /** Send a refused or failed order again, `delay` milliseconds from now. */
  | { kind: 'retry'; at: number; job: string; delay: number; who?: string }
  /** Look up an order in doubt in the API's list again. */
  | { kind: 'ask'; at: number }
  /** The person knows that the API has the order. */
  | { kind: 'confirm'; at: number }
  /** The person wants the order sent, also where the API is known to have the number. */
  | { kind: 'resend'; at: number; job: string; who?: string }
  /** A person had it sent again, and Redis lost what became of that: the list decides. */
  | { kind: 'recall'; at: number; as: 'retry' | 'resend' }
  /**
   * Withdraw an order of this batch. Where it is the order's own, the API must not have it, and the next file that has the
   * order sends it, carried by `job`.
   */
  | { kind: 'cancel'; at: number; batch: string; job: string }
  /** Discard a dead letter: the ledger forgets the order, but not what the API has. */
  | { kind: 'discard'; at: number };

/** What follows. `due`: when the sweeper processes the order; `doubt`: when the list may be read; both ledger time. */
export type Step =
  | { kind: 'ignore' }
  | { kind: 'move'; entry: Entry; due?: number; doubt?: number }
  /**
   * Settled. `since`: po-sync created it, by an attempt that began then or later. `times`: how often the API's list shows the order,
   * where it does. `isEarlier`: the API had it before po-sync.
   */
  | {
      kind: 'accept';
      attempts: number;
      at: number;
      since?: number | undefined;
      times?: number;
      isEarlier?: boolean;
    }
  /** Withdrawn where `left` says. `rest`: what other files have of it; without `due` it continues as it was. */
  | {
      kind: 'cancel';
      at: number;
      left: readonly Occurrence[];
      rest?: { entry: Entry; due?: number };
    }
  /** It waits for a person since `at`. */
  | { kind: 'dead'; entry: DeadEntry; at: number }
  /** The entry goes. `keeps` is the content that the API has under the number. */
  | { kind: 'drop'; at: number; keeps?: string };

/** An order that waits for a person. */
export type DeadEntry = Entry & { state: 'conflict' | 'refused' | 'failed' | 'inDoubt' };

/** The rules that the configuration sets. */
export type Policy = {
  attempts: number;
  settle: number;
  onDoubt: 'verify' | 'hold';
  /**
   * The header of the idempotency key, if the API has one, and for how many milliseconds after the key was first sent an
   * attempt with it may begin, so that none is on its way when the API forgets the key.
   */
  key?: { header: string; repeats: number };
  /** Milliseconds to wait before the attempt after `used` failed ones. */
  backoff(used: number): number;
};

/** How long the sweeper leaves a queued order alone before it checks that the queue still has its job. */
export const SWEEP_AFTER = 30_000;

export const IGNORE: Step = { kind: 'ignore' };

/** Whether an attempt may begin. */
export function isSendable({ state }: Entry): boolean {
  return state === 'queued' || state === 'retry';
}

/** Whether the API still knows the key of an order, so that another attempt with it creates nothing twice. */
export function isKeyKnown({ keyed }: Entry, at: number, { key }: Policy): boolean {
  return (
    key !== undefined &&
    keyed !== undefined &&
    keyed.header === key.header &&
    at < keyed.at + key.repeats
  );
}

/** The step that leaves an order in doubt to the list, or to a person. */
export function verifyStep(entry: Entry, at: number, policy: Policy): Step {
  if (policy.onDoubt === 'hold') return deadStep(entry, 'inDoubt', at, entry.answer);
  const { repeats: _, isAlone: __, ...rest } = entry;
  const unknown: Entry = { ...rest, state: 'unknown', absences: 0 };
  return { kind: 'move', entry: unknown, doubt: (entry.maybeSentAt ?? at) + policy.settle };
}

/** The step that leaves an order to a person from `at` on. */
export function deadStep(
  entry: Entry,
  state: DeadEntry['state'],
  at: number,
  answer: Answer | undefined,
): Step {
  const { deadline: _, repeats: __, ...rest } = entry;
  return {
    kind: 'dead',
    at,
    entry: { ...rest, ...(answer === undefined ? {} : { answer }), state, lastAt: at },
  };
}
