import { expect, it } from 'vitest';
import { openWorkplace } from '../support/workplace.ts';

const HEAD = 'purchaseOrderNumber,articleCode,quantity';
/** PO-1 is apart, and nobody knows whose row the one on line 3 is. */
const FILE = `${HEAD}\nPO-1,A,1\nPO-2,B\nPO-3,C,1\nPO-1,D,1\n`;

it.each([
  [[], [], { orders: 3, invalid: 3 }],
  [['--without-rows'], ['PO-1', 'PO-3'], { orders: 2, accepted: 2 }],
] as const)(
  'a file with a row that belongs to no order is released %j',
  async (flags, sent, counts) => {
    await using place = await openWorkplace();
    await place.drop('orders.csv', FILE);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    const [one] = JSON.parse((await place.run(['batches', 'list', '--json'])).out).batches;
    expect(one).toMatchObject({
      state: 'waiting',
      waits: { code: 'shape', facts: { damaged: 1, damagedLines: [3], apart: 1 } },
    });
    expect([...place.stored()]).toEqual([]);
    await place.run(['batches', 'release', one.batch, '--yes', ...flags]);
    await place.run(['start', '--once']);
    const [report] = await place.reportsNow();
    expect(report?.counts).toMatchObject(counts);
    expect([...place.stored().keys()].sort()).toEqual(sent);
  },
);
