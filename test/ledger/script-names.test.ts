import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type Change, createCommits } from '../../src/ledger/commits.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import type { Redis } from '../../src/redis/connect.ts';
import { keysOf } from '../../src/redis/keys.ts';

const ENTRY: Entry = {
  version: 6,
  state: 'sending',
  order: { purchaseOrderNumber: 'PO-1', orderState: 'NEW', items: [] },
  digest: 'abcdefghijklmnop',
  batch: 'b1',
  batchNo: 1,
  ordinal: 0,
  place: { line: 2 },
  job: '',
  attempt: 1,
  used: 0,
  absences: 0,
  lastAt: 9,
};

/** With everything that a change can have; each of the two excludes something of the other. */
const CHANGES: Change[] = [
  {
    number: 'PO-1',
    expected: 5,
    entry: ENTRY,
    due: 7,
    doubt: 8,
    compact: { number: 'PO-1', digest: ENTRY.digest, attempts: 1, at: 9, batchNo: 1 },
    outcome: 'refused',
    result: { outcome: 'refused', attempts: 1, at: 9, code: 'no', facts: { says: 'line\nfeed' } },
    closes: true,
    at: 9,
    operatorAction: { at: 9, who: 'anna', what: 'retried' },
    also: [{ batch: 'b2', ordinal: 1, outcome: 'duplicate' }],
    from: [{ id: 'b0-1', number: 'PO-2', content: '', revision: 1 }],
    isAbsent: true,
    witness: { before: '', text: '9 PO-1' },
    isAdmission: true,
    batch: 'b1',
    ordinal: 0,
  },
  { number: 'PO-1', expected: 5, wasInDoubt: true, goesOn: true, batch: 'b1', ordinal: 0 },
];

/** The names of each change as `commit` sends them. */
async function sent(): Promise<string[][]> {
  const calls: unknown[][] = [];
  const redis = {
    evalsha: async (...call: unknown[]) => {
      calls.push(call);
      return [0, 1];
    },
  };
  const identity = { known: () => ({ epoch: 'L1', sequence: 3 }), saw: () => undefined };
  const deps = { redis: redis as unknown as Redis, keys: keysOf('staging'), identity };
  for (const change of CHANGES) await createCommits(deps)(change);
  return calls.map((call) => Object.keys(JSON.parse(String(call.at(-1))) as object));
}

async function namesIn(script: string, variable: string): Promise<[string[], string[]]> {
  const text = await readFile(new URL(`../../src/${script}`, import.meta.url), 'utf8');
  const said = [...text.matchAll(/^-- {3}(\w+(?:, \w+)*) {2,}/gm)].flatMap(([, names = '']) =>
    names.split(', '),
  );
  const read = [...text.matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, 'g'))];
  return [said.sort(), [...new Set(read.map(([, name = '']) => name))].sort()];
}

it('a change has the names at the head of commit.lua, and the script reads no other', async () => {
  const all = [...new Set((await sent()).flat())].sort();
  expect(await namesIn('ledger/commit.lua', 'change')).toEqual([all, all]);
});

it.each([
  'ledger/identity.lua',
  'ledger/close-dead-letters.lua',
  'ledger/batches/total.lua',
  'reconcile/ledger-rebuild.lua',
])('%s reads the names at its head', async (script) => {
  const [said, read] = await namesIn(script, 'asked');
  expect(read).toEqual(said);
});
