import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFixPlace as openWorkplace } from '../support/fix-as-text.ts';

const HEAD = 'PO_NO;MATNR;MENGE\n';
const MORE = `mappings:
  erp: { columns: { PO_NO: { is: purchaseOrderNumber }, MATNR: { is: articleCode }, MENGE: { is: quantity } } }
`;

describe('an export', () => {
  it('is only read; what is known costs no call, what is wrong is reported once, what is fixed is sent', async () => {
    await using place = await openWorkplace({
      more: MORE,
      source:
        '- { name: erp, type: export, path: erp.csv, mapping: erp, stable: 100ms, poll: 200ms }',
    });
    const file = path.join(place.folder, 'erp.csv');
    const received = () => place.events.filter(({ type }) => type === 'received').length;
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });

    await writeFile(file, `${HEAD}1001;BOLT;5\n1002;NUT;many\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    expect([...place.stored()]).toEqual([['1001', 1]]);

    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(await place.reportsNow()).toHaveLength(1);

    await writeFile(file, `${HEAD}1001;BOLT;5\n1002;NUT;many\n1003;NUT;1\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 0 });
    expect(received()).toBe(2);
    const [, second] = await place.reportsNow();
    expect(second).toMatchObject({
      open: 0,
      counts: { orders: 3, accepted: 1, duplicate: 2, invalid: 0 },
    });

    await writeFile(file, `${HEAD}1001;BOLT;6\n1002;NUT;7\n1003;NUT;1\n`);
    expect(await place.run(['start', '--once'])).toMatchObject({ code: 2 });
    const [first, , third] = await place.reportsNow();
    expect(third).toMatchObject({ open: 1, counts: { accepted: 1, duplicate: 1, conflict: 1 } });
    expect(first).toMatchObject({ open: 0, counts: { invalid: 1 } });
    expect(received()).toBe(3);
    expect(await readdir(path.join(place.folder, 'data', 'spool', 'erp'))).toEqual([]);
    expect(await readdir(place.folder)).toContain('erp.csv');
  });
});
