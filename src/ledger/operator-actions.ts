import { iso } from '../core/format.ts';
import type { Redis } from '../redis/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { Entry, OperatorAction, PastAttempt } from './entry.ts';

/** Actions of an order that are kept; `commit.lua` keeps as many. */
const KEPT = 20;

/** The actions of people on each order. An action that changes an entry is committed together with the change. */
export function createOperatorActions({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** What people did with an order, oldest first. */
  async function operatorActions(number: string): Promise<OperatorAction[]> {
    const texts = await redis.lrange(keys.operatorActions(number), 0, -1);
    return texts.map((text) => JSON.parse(text) as OperatorAction);
  }

  /** Adds what a person did without a change of the entry: the file that they submit changes it. */
  async function note(number: string, action: OperatorAction): Promise<void> {
    const key = keys.operatorActions(number);
    await redis.multi().rpush(key, JSON.stringify(action)).ltrim(key, -KEPT, -1).exec();
  }

  return { operatorActions, note };
}

/** An action, if there is one, with the last attempt of the order that it decides on. */
export function actionOn(
  { history }: Pick<Entry, 'history'>,
  operatorAction: OperatorAction | undefined,
) {
  const after = history?.at(-1);
  return operatorAction && { operatorAction: { ...operatorAction, ...(after && { after }) } };
}

type Told = {
  open?: { history: readonly PastAttempt[] };
  operatorActions: readonly OperatorAction[];
  appearances: readonly { result: { at: string; attempts: number }; deadLetter?: Reported }[];
};

type Reported = {
  attempts: number;
  lastAt: string;
  code: string;
  facts?: object;
  httpStatus?: number;
};

/**
 * The attempts without success that are known: of an order that is not settled, those after which a person decided, and the
 * last of a dead letter; without those that are the outcome in a report.
 */
export function attemptsOf({ open, operatorActions, appearances }: Told): PastAttempt[] {
  const decidedOn = operatorActions.flatMap(({ after }) => after ?? []);
  const last = appearances.flatMap(({ result, deadLetter }) =>
    deadLetter && deadLetter.attempts > result.attempts ? asAttempt(deadLetter) : [],
  );
  const outcomes = new Set(appearances.map(({ result }) => result.at));
  const past = [...last, ...decidedOn].filter(({ at }) => !outcomes.has(iso(at)));
  return [...new Map([...past, ...(open?.history ?? [])].map((one) => [one.at, one])).values()];
}

function asAttempt({ attempts, lastAt, code, facts = {}, httpStatus }: Reported): PastAttempt {
  return {
    attempt: attempts,
    at: Date.parse(lastAt),
    code,
    message: 'says' in facts ? String(facts.says) : code,
    ...(httpStatus !== undefined && { httpStatus }),
  };
}

/** With its time in ISO 8601, as in reports. */
export function dated<One extends { at: number }>(one: One) {
  return { ...one, at: iso(one.at) };
}

export function actionJson({ after, ...action }: OperatorAction) {
  return { ...dated(action), ...(after && { after: dated(after) }) };
}
