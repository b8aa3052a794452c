/** An operator paused delivery. */
export const OPERATOR = 'operator';
/** A new ledger reads the API's list. */
export const NEW_LEDGER = 'ledger-new';
/** The ledger does not know all that was sent. */
export const ROLLED_BACK = 'ledger-rolled-back';
/** One order of a new ledger was sent: the API's list must show it before the others follow. */
export const LIST_UNPROVED = 'list-unproved';
/** The list does not show what it must. */
export const LIST_INCOMPLETE = 'list-incomplete';
/** Its pages change while they are read. */
export const LIST_UNSTABLE = 'list-unstable';
/** On the first start of a protected environment a person says how many orders it must show. */
export const LIST_UNCONFIRMED = 'list-unconfirmed';
/** The API answers that there is no list. */
export const LIST_NOT_OFFERED = 'list-not-offered';

/**
 * Why a ledger does not know everything that was sent. `rolled-back`: it lost changes: flushed, restored from an old file,
 * failed over, or a different Redis. `emptied`: there is no ledger at all, so it may also be another Redis that is meant.
 * `copied`: it was copied together with the checkpoint, so what was sent after the copy was made is in neither.
 * `returned`: another ledger was used in its place meanwhile, and has sent what this one does not know.
 */
export type Loss = 'rolled-back' | 'emptied' | 'copied' | 'returned';

/** The words of whoever answered, or why nobody did. `answer`: their code. */
export type Answer = { says: string; answer: string; httpStatus?: number };

/** Why delivery is paused, each code with its facts. `order`: it was sent, and the list must show it. */
export type PauseFacts = {
  [OPERATOR]: { who: string; why?: string };
  /** With an answer: the list cannot be read yet. */
  [NEW_LEDGER]: Partial<Answer>;
  [ROLLED_BACK]: { loss?: Loss };
  /** With an answer: the list cannot be read. */
  [LIST_UNPROVED]: { order: string } & Partial<Answer>;
  /** `shown`: how many orders it shows. `expected`: how many a person named. `gone`: that it showed before. */
  [LIST_INCOMPLETE]: { shown: number } & (
    | { expected: number }
    | { gone: number }
    | { order: string; before: number }
  );
  [LIST_UNSTABLE]: Answer;
  [LIST_UNCONFIRMED]: { shown: number };
  [LIST_NOT_OFFERED]: Answer & { order?: string };
};

/** Each code of po-sync with its facts. */
export type OwnCause = {
  [Code in keyof PauseFacts]: { code: Code; facts: PauseFacts[Code] };
}[keyof PauseFacts];

/**
 * The same, or what the API, the network or the token endpoint answered. `askedMs`: it asks to wait so long; `isYoung`: the token
 * that it refused is new.
 */
export type PauseCause =
  | OwnCause
  | { code: string; facts: Answer & { askedMs?: number; isYoung?: true } };

const NEED_PERSON = new Set<string>([LIST_INCOMPLETE, LIST_UNCONFIRMED, LIST_NOT_OFFERED]);
const WAIT = new Set([NEW_LEDGER, ROLLED_BACK, LIST_UNPROVED, LIST_UNSTABLE, ...NEED_PERSON]);

/** Whether a pause with this code ends when the API's list has been read, and shows what it must. */
export function waitsForList(code: string): boolean {
  return WAIT.has(code);
}

/** Whether such a pause seldom ends before a person acts: a run that is to end does not wait for it. */
export function listNeedsPerson(code: string): boolean {
  return NEED_PERSON.has(code);
}

/** What was answered, as facts: without the complete response. */
export function answerOf({
  code: answer,
  message: says,
  httpStatus,
}: {
  code: string;
  message: string;
  httpStatus?: number;
}): Answer {
  return { says, answer, ...(httpStatus === undefined ? {} : { httpStatus }) };
}
