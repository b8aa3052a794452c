import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { Entry } from '../../../src/ledger/entry.ts';
import type { DeadEntry } from '../../../src/ledger/state-machine/step.ts';
import { createOperator } from '../../../src/operate/operator-context.ts';
import { findInDoubt, resolveOrder } from '../../../src/operate/orders/resolve-order.ts';
import { configOf, LEAST } from '../../support/config-text.ts';
import { type DeliveryRig, openDeliveryRig } from '../../support/delivery-rig.ts';
import { entryOf, orderOf } from '../../support/entry.ts';
import { journalsInMemory } from '../../support/journals-in-memory.ts';

const LOST = { code: 'no-answer', message: 'no complete answer' };
let rig: DeliveryRig;
beforeAll(async () => {
  rig = await openDeliveryRig({ delivery: { settle: 60_000 } });
});
afterAll(() => rig[Symbol.asyncDispose]());

const contextOf = () => {
  const { ledger, queue, store } = rig;
  const whole = {
    ...store,
    plain: store.redis,
    private: false,
    isSteady: () => true,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const { config } = configOf(LEAST);
  return {
    ledger,
    queue,
    store: whole,
    config,
    owner: 'command',
    clock: systemClock,
    journals: journalsInMemory(),
    operator: createOperator({ USER: 'anna' }, store.time),
  };
};

/** An order that may have been sent, as it is verified, and as it is when a daemon left it to a person. */
async function doubt(
  number: string,
  ordinal: number,
): Promise<{ verified: Entry; left: DeadEntry }> {
  const queued = entryOf({ order: orderOf(number), ordinal });
  const now = rig.store.time.now();
  const verified: Entry = {
    ...queued,
    version: 2,
    state: 'unknown',
    attempt: 1,
    maybeSentAt: now,
    answer: LOST,
  };
  await rig.ledger.enter(queued, undefined, now + 60_000);
  await rig.ledger.take(queued, { kind: 'move', entry: verified, doubt: now + 60_000 });
  return { verified, left: { ...verified, version: 3, state: 'inDoubt' } };
}

async function stateOf(number: string): Promise<string | undefined> {
  const [known] = await rig.ledger.lookup([number]);
  return known?.kind === 'open' ? known.entry.state : known?.kind;
}

it('an order that a daemon left to a person while the list was awaited is resolved all the same', async () => {
  const { verified, left } = await doubt('PO-1', 0);
  await rig.ledger.take(verified, { kind: 'dead', entry: left, at: rig.store.time.now() });
  expect(await stateOf('PO-1')).toBe('inDoubt');
  await resolveOrder(verified, 'accepted', contextOf());
  expect(await stateOf('PO-1')).toBe('accepted');
});

it('an order that was sent once more meanwhile is not resolved, and the message does not contradict itself', async () => {
  const { verified } = await doubt('PO-2', 1);
  const again: Entry = { ...verified, version: 3, attempt: 2 };
  await rig.ledger.take(verified, {
    kind: 'move',
    entry: again,
    doubt: rig.store.time.now() + 60_000,
  });
  await expect(resolveOrder(verified, 'resend', contextOf())).rejects.toMatchObject({
    code: 'order-changed',
    message: 'Order PO-2 was changed in the meantime, and is still in doubt.',
  });
  expect(await stateOf('PO-2')).toBe('unknown');
});

it('an order in a call is not in doubt yet', async () => {
  const sending = entryOf({ state: 'sending', attempt: 1, deadline: Date.UTC(2099, 0, 1) });
  await expect(
    findInDoubt('4711', { lookup: async () => [{ kind: 'open', entry: sending }] }),
  ).rejects.toMatchObject({
    code: 'not-in-doubt',
  });
});
