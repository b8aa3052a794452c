import { expect, inject, test } from 'vitest';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import type { MappedOrder } from '../../src/mapping/group.ts';
import { compile } from '../../src/mapping/plan.ts';
import { type Inspection, inspectRecords, readRecords } from '../../src/mapping/read-records.ts';
import { type Drawn, drawn } from './drawn-files.ts';
import { recordsOf } from './file-of-arrays.ts';
import { type Outcome, type Verdict, verdictOf } from './oracle.ts';

const CASES = Number(process.env['ORACLE_CASES'] ?? (inject('isThorough') ? 20_000 : 500));

/** What the program says about a drawn file, in the words of the oracle. */
async function programOf(
  { file, mapping, maxOrders, isWorkbook }: Drawn,
  filterBits?: number,
): Promise<Verdict> {
  const records = recordsOf(file, mapping, isWorkbook);
  const parsed = mappingSchema.parse(mapping);
  try {
    const options = { maxOrders, ...(filterBits !== undefined && { filterBits }) };
    const inspection = await inspectRecords(
      records,
      compile(parsed),
      { name: 'drawn', mapping: parsed },
      options,
    );
    return await told(records, inspection);
  } catch (error) {
    if (error instanceof PoSyncError && error.code.startsWith('unreadable-'))
      return { unreadable: true };
    throw error;
  }
}

async function told(
  records: ReturnType<typeof recordsOf>,
  { state, reading, counts }: Inspection,
): Promise<Verdict> {
  if (reading === undefined) throw new Error('no reading');
  const outcomeOf = async (withoutRows: boolean): Promise<Outcome> => {
    const outcome: Outcome = { sent: [], held: [], damaged: [] };
    let ordinal = 0;
    for await (const page of readRecords(records, reading, { released: { withoutRows } }))
      for (const one of page) {
        expect(one.ordinal).toBe(ordinal++);
        put(outcome, one);
      }
    return outcome;
  };
  const [read, without] = [await outcomeOf(false), await outcomeOf(true)];
  const waits = state === 'ready' ? undefined : state.waits.code;
  if (waits === 'mapping' || waits === 'workbook') throw new Error(waits);
  const { missing, undeclared } = reading.survey;
  return {
    waits,
    missing,
    undeclared: undeclared.map(({ name }) => name.toLowerCase()),
    skipped: counts.skipped,
    // An estimate where nothing waits for it.
    orders: state === 'ready' ? without.sent.length + without.held.length : counts.orders,
    read,
    without,
  };
}

function put(outcome: Outcome, one: MappedOrder): void {
  const first = one.rows[0];
  const line = first?.line ?? 0;
  if ('order' in one) {
    const { purchaseOrderNumber: number, orderState, items, fields } = one.order;
    expect(orderState).toBe('NEW');
    outcome.sent.push({ number, items, ...(fields && { fields }) });
  } else if (one.number === '') outcome.damaged.push(line);
  else outcome.held.push(`${line}:${one.number}`);
}

/** Orders in one sequence: that in which they come out is no rule. */
function sorted(verdict: Verdict): Verdict {
  if ('unreadable' in verdict) return verdict;
  const of = ({ sent, held, damaged }: Outcome): Outcome => ({
    sent: sent.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    held: held.toSorted(),
    damaged: damaged.toSorted((a, b) => a - b),
  });
  // Names are shortened where they are shown.
  const undeclared = verdict.undeclared.map((name) => name.slice(0, 199).toLowerCase()).toSorted();
  return {
    ...verdict,
    missing: verdict.missing.toSorted(),
    undeclared,
    read: of(verdict.read),
    without: of(verdict.without),
  };
}

async function compare(seed: number, filterBits?: number): Promise<Verdict> {
  const one = drawn(seed);
  const said = verdictOf(one.file, one.mapping, one.maxOrders);
  const program = await programOf(one, filterBits);
  expect({ seed, ...sorted(program) }).toEqual({ seed, ...sorted(said) });
  return said;
}

test('what is sent, held and skipped, and whether the file waits, is what the rules say', async () => {
  const seen = {
    unreadable: 0,
    layout: 0,
    shape: 0,
    volume: 0,
    ready: 0,
    sent: 0,
    held: 0,
    damaged: 0,
    skipped: 0,
  };
  for (let seed = 1; seed <= CASES; seed++) {
    const verdict = await compare(seed);
    if ('unreadable' in verdict) seen.unreadable++;
    else {
      seen[verdict.waits ?? 'ready']++;
      seen.sent += verdict.read.sent.length;
      seen.held += verdict.read.held.length;
      seen.damaged += verdict.read.damaged.length;
      seen.skipped += verdict.skipped;
    }
  }
  // A generator that no longer draws a kind of case would prove nothing about it.
  for (const [kind, count] of Object.entries(seen)) expect([kind, count > 0]).toEqual([kind, true]);
  if (process.env['ORACLE_CASES'] !== undefined) console.log(seen);
});

test('a filter of 64 bits, in which nearly every number seems to repeat, changes nothing', async () => {
  for (let seed = 1; seed <= CASES; seed++) await compare(seed, 64);
});
