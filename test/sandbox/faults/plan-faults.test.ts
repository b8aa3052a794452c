import { expect, test } from 'vitest';
import { type FaultFileInput, faultFile } from '../../../src/sandbox/faults/fault-file.ts';
import { planFaults } from '../../../src/sandbox/faults/plan-faults.ts';

const planner = (input: FaultFileInput, elapsed = () => 0) =>
  planFaults(faultFile.parse(input), elapsed);
const kindOf = (input: FaultFileInput) => {
  const plan = planner(input);
  return (order: string) => plan({ on: 'create', order }).ending?.kind;
};
const NUMBERS = Array.from({ length: 2000 }, (_, nth) => `PO-${nth}`);
const MIXED = {
  seed: 9,
  faults: [
    { kind: 'drop', share: '20%' },
    { kind: 'crash', share: 0.2 },
  ],
} as const;

test('a seed affects the same attempts of the same orders in any order of arrival', () => {
  const [forwards, backwards] = [
    kindOf({ ...MIXED, faults: [...MIXED.faults] }),
    kindOf({ ...MIXED, faults: [...MIXED.faults] }),
  ];
  const first = new Map(NUMBERS.map((number) => [number, forwards(number)]));
  const second = new Map(NUMBERS.toReversed().map((number) => [number, backwards(number)]));
  for (const number of NUMBERS) expect(second.get(number)).toBe(first.get(number));
});

test('another seed or attempt affects other calls', () => {
  const [nine, ten] = [
    kindOf({ seed: 9, faults: [{ kind: 'drop', share: 0.5 }] }),
    kindOf({ seed: 10, faults: [{ kind: 'drop', share: 0.5 }] }),
  ];
  const patterns = [NUMBERS.map(nine), NUMBERS.map(nine), NUMBERS.map(ten)].map((kinds) =>
    kinds.join(),
  );
  expect(new Set(patterns).size).toBe(3);
});

test('shares are met, and the first matching fault in the file determines how a call ends', () => {
  const kinds = NUMBERS.map(kindOf({ ...MIXED, faults: [...MIXED.faults] }));
  const share = (kind: string) => kinds.filter((one) => one === kind).length / kinds.length;
  expect(share('drop')).toBeCloseTo(0.2, 1);
  expect(share('crash')).toBeCloseTo(0.8 * 0.2, 1);
});

test('delays add up and combine with an ending', () => {
  const plan = planner({
    faults: [
      { kind: 'delay', by: '10ms' },
      { kind: 'drop', when: 'after' },
      { kind: 'delay', by: '5ms..5ms' },
      { kind: 'delay', by: '1s', when: 'after' },
    ],
  })({ on: 'create', order: 'PO-1' });
  expect(plan).toMatchObject({ delayBefore: 15, delayAfter: 1000, ending: { kind: 'drop' } });
  expect(plan.struck).toHaveLength(4);
});

test('faults are selected by operation, call, attempt, order and time', () => {
  let now = 0;
  const plan = planner(
    {
      faults: [
        { kind: 'answer', status: 500, calls: '2' },
        { kind: 'answer', status: 501, attempts: '3-' },
        { kind: 'answer', status: 502, orders: ['X*', 'PO-9'] },
        { kind: 'answer', status: 503, from: '1s', until: '2s' },
        { kind: 'answer', status: 504, on: 'list' },
      ],
    },
    () => now,
  );
  const status = (order: string, on: 'create' | 'list' = 'create') => {
    const { ending } = plan({ on, order });
    return ending?.kind === 'answer' ? ending.status : undefined;
  };
  expect(
    ['PO-1', 'PO-1', 'PO-1', 'PO-2', 'X-1', 'PO-9', 'PO-99'].map((order) => status(order)),
  ).toEqual([undefined, 500, 501, undefined, 502, 502, undefined]);
  now = 1000;
  expect(status('PO-3')).toBe(503);
  now = 2000;
  expect(status('PO-3')).toBe(undefined);
  expect(status('', 'list')).toBe(504);
});

test('a sticky share selects orders, not attempts', () => {
  const statuses = (sticky: boolean) => {
    const plan = planner({ faults: [{ kind: 'drop', share: 0.5, sticky }] });
    return NUMBERS.slice(0, 200).map((order) =>
      [1, 2, 3, 4].map(() => plan({ on: 'create', order }).ending?.kind),
    );
  };
  const isUniform = (kinds: readonly unknown[]) => new Set(kinds).size === 1;
  expect(statuses(true).every(isUniform)).toBe(true);
  expect(statuses(true).filter(([kind]) => kind === 'drop').length / 200).toBeCloseTo(0.5, 0);
  expect(statuses(false).every(isUniform)).toBe(false);
});

test('a sticky fault of an endpoint stays once it has begun', () => {
  const plan = planner({ faults: [{ kind: 'drop', on: 'list', share: 0.1, sticky: true }] });
  const kinds = Array.from({ length: 200 }, () => plan({ on: 'list', order: '' }).ending?.kind);
  const first = kinds.indexOf('drop');
  expect(first).toBeGreaterThan(0);
  expect(kinds.slice(first).every((kind) => kind === 'drop')).toBe(true);
});

test('revoke does not affect token requests', () => {
  expect(
    planner({ faults: [{ kind: 'revoke', on: 'any' }] })({ on: 'token', order: '' }).ending,
  ).toBe(undefined);
});

test('a fault can be limited to orders that contain an article', () => {
  const plan = planner({ faults: [{ kind: 'answer', status: 400, articles: ['A-1', 'A-2'] }] });
  const isStruck = (items?: string) =>
    plan({ on: 'create', order: 'PO-1', items }).ending !== undefined;
  expect(isStruck('[{"articleCode":"B","quantity":1},{"articleCode":"A-2","quantity":1}]')).toBe(
    true,
  );
  expect(isStruck('[{"articleCode":"A-10","quantity":1}]')).toBe(false);
  expect(isStruck()).toBe(false);
});
