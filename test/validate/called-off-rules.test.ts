import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CALLED_OFF } from '../../src/order/other-reading.ts';
import { fixMapping } from '../../src/parse/read-fix-file.ts';
import { OTHER_STATUS_WORDS, STATUS_WORDS } from '../../src/validate/called-off-rules.ts';
import { inShort, mappingOf, readText } from '../support/read-text.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';
const sent = (purchaseOrderNumber: string) => ({
  purchaseOrderNumber,
  orderState: 'NEW',
  items: [{ articleCode: 'A', quantity: 1 }],
});

async function heldIn(
  content: string,
  settings: Parameters<typeof mappingOf>[0],
): Promise<string[]> {
  const { orders } = await readText(content, mappingOf(settings));
  return orders.filter(({ valid }) => !valid).map(({ number }) => number);
}

/** How docs/files.md says that a status may be written. */
const FORMS: Record<string, (word: string) => string> = {
  'as it is': (word) => word,
  'in upper case': (word) => word.toUpperCase(),
  'without accents': (word) => word.normalize('NFD').replace(/\p{M}/gu, ''),
  'with umlauts as two letters': (word) =>
    word.replace(/[äöüÄÖÜ]/g, (one) => `${one.normalize('NFD')[0]}e`).replaceAll('ß', 'ss'),
  'in upper case with umlauts as two letters': (word) =>
    word.replace(/[äöüÄÖÜ]/g, (one) => `${one.normalize('NFD')[0]}e`).toUpperCase(),
  'with separate accents (NFD)': (word) => word.normalize('NFD'),
  'with underscores': (word) => word.replaceAll(' ', '_'),
  'with hyphens': (word) => word.replaceAll(' ', '-'),
  'without spaces': (word) => word.replaceAll(' ', ''),
  'with spaces that do not break': (word) => word.replaceAll(' ', '\u00a0'),
  'with a character that nobody sees': (word) => `\u200b${word}`,
  'behind a code': (word) => `90 - ${word}`,
  'behind a code in brackets': (word) => `[C] ${word}`,
  'before a date': (word) => `${word} 22.11.2026`,
  'before a date in parentheses': (word) => `${word} (2026-11-22)`,
  'before a date with a word': (word) => `${word} am 22.11.2026`,
  'behind a code and before a date, in NFD': (word) => `4_${word.normalize('NFD')} 2026-11-22`,
};

/** The words for cancelled in docs/files.md, and those of status columns about something else. */
function documented(): { calledOff: string[]; elsewhere: string[]; words: string[] } {
  const docs = readFileSync(new URL('../../docs/files.md', import.meta.url), 'utf8');
  const [section = ''] = /### Values of a status column\n(.*?)\n### /s.exec(docs)?.slice(1) ?? [];
  const [begins = ''] =
    /So does every value that begins with (.*?)\n\n/s.exec(section)?.slice(1) ?? [];
  const [others = ''] =
    /only these hold the order:(.*?),?\s*and words for cancelled/s.exec(section)?.slice(1) ?? [];
  const words = section.matchAll(
    /^\| (?:not released yet|done already|no longer wanted) \| \w+ \| (.*) \|$/gm,
  );
  return {
    calledOff: [...begins.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
    elsewhere: others.split(',').map((word) => word.trim()),
    words: [...words].flatMap(([, list = '']) => list.split(', ')),
  };
}

const table = (column: string, ...values: string[]) =>
  `${HEADER},${column}\n${values.map((value, at) => `${at + 1},A,1,${value}\n`).join('')}`;

describe('a column of calledOff', () => {
  test('holds the rows with one of its values, whatever the case', async () => {
    const text = table('kz ', '', '9', 's', ' S ', '1', 'X');
    expect(await heldIn(text, { calledOff: { KZ: [9, 'S'] } })).toEqual(['2', '3', '4']);
    const { orders } = await readText(text, mappingOf({ calledOff: { KZ: 9 } }));
    expect(inShort(orders).slice(0, 2)).toEqual([sent('1'), { 2: ['3 kz called-off'] }]);
  });

  test('with any holds the rows with every value except a no', async () => {
    const text = table('Erledigt am', '', '0', 'N', '-', '22.11.2026', 'M. Weber');
    expect(await heldIn(text, { calledOff: { 'erledigt am': 'any' } })).toEqual(['5', '6']);
  });

  test('with never, or with other values, holds no row for the values that its name has without a rule', async () => {
    const text = table('STORNO', 'X', 'S', '22.11.2026');
    expect(await heldIn(text, {})).toEqual(['1', '2', '3']);
    expect(await heldIn(text, { calledOff: { Storno: 'never' } })).toEqual([]);
    expect(await heldIn(text, { calledOff: { Storno: 'S' } })).toEqual(['2']);
  });

  test('holds rows also with otherReadings: allow, which is for readings that no person named', async () => {
    const text = table('KZ,STORNO', '9,', ',X');
    expect(await heldIn(text, { calledOff: { KZ: 9 }, otherReadings: 'allow' })).toEqual(['1']);
  });

  test('that the table does not have is a warning, unless it is never to be read', async () => {
    const calledOff = { KZ: 9, Storno: 'never' };
    const { inspection } = await readText(table('Kennzeichen', ''), mappingOf({ calledOff }));
    expect(inspection.warnings).toEqual([
      'calledOff names "KZ", which this file does not have: canceled rows may be sent.',
    ]);
    expect((await readText(table('kz', ''), mappingOf({ calledOff }))).inspection.warnings).toEqual(
      [],
    );
  });

  test('counts in a fix file, until a person confirms the row', async () => {
    const mapping = fixMapping(mappingOf({ calledOff: { KZ: 9 } }));
    const text = `${HEADER},KZ,_error_line,_error_check\n1,A,1,9,2,confirmed\n2,A,1,9,3,"01,000"\n`;
    const { orders } = await readText(text, mapping);
    expect(inShort(orders)).toEqual([sent('1'), { 2: ['3 KZ called-off'] }]);
  });

  test('names what the row says in other columns, because a confirmation confirms that, too', async () => {
    const text = `${HEADER},status,unit\n1,A,1,cancelled,box of 10\n2,A,1,cancelled,\n`;
    const { orders } = await readText(text, mappingOf({}));
    const messages = orders.map((one) =>
      'problems' in one ? one.problems[0]?.message : undefined,
    );
    expect(messages).toEqual([
      expect.stringMatching(
        /of the fix file\. Look at "box of 10" in unit, too: what confirms the row confirms that$/,
      ),
      expect.stringMatching(/into _error_check of the fix file$/),
    ]);
  });

  test('is read before onlyWhere of the same column, and after skipWhere', async () => {
    const text = `${HEADER},Status,Plant\n1,A,1,offen,10\n2,A,1,STORNIERT,10\n3,A,1,erledigt,10\n4,A,1,gesperrt,10\n5,A,1,storniert,20\n6,A,1,offen,10\n6,B,1,,10\n7,A,1,storniert,10\n7,B,1,,10\n8,A,1,offen,10\n8,B,1,storniert,10\n`;
    const rules = {
      onlyWhere: { Status: 'offen', Plant: 10 },
      calledOff: { status: ['storniert', 'gesperrt'], Plant: 'never' },
    };
    const { orders, inspection } = await readText(
      text,
      mappingOf({ ...rules, skipWhere: { Status: 'gesperrt' } }),
    );
    // The second row of 7 counts as canceled like the first one; another plant is left out, canceled or not.
    expect(inShort(orders)).toEqual([
      sent('1'),
      { 2: ['3 Status called-off'] },
      expect.objectContaining({ purchaseOrderNumber: '6' }),
      { 7: [expect.stringContaining('9 Status called-off')] },
      { 8: [expect.stringContaining('12 Status called-off')] },
    ]);
    expect(inspection.warnings).toEqual([
      'One row that matches skipWhere was skipped.',
      '2 rows without a value of onlyWhere were skipped: "erledigt" 1, "20" 1.',
    ]);
  });
});

describe('a key of calledOff', () => {
  const of = (number: string, rest: object = {}, item: object = {}) => ({
    purchaseOrderNumber: number,
    items: [{ articleCode: 'A', quantity: 1, ...item }],
    ...rest,
  });

  test('holds orders and items, also by true and by a path', async () => {
    const text = JSON.stringify([
      of('1'),
      of('2', { gone: true }),
      of('3', {}, { gone: true }),
      of('4', { gone: false, header: { flag: 'z' } }),
    ]);
    expect(await heldIn(text, { calledOff: { Gone: 'any', 'header.flag': 'Z' } })).toEqual([
      '2',
      '3',
      '4',
    ]);
    expect(await heldIn(text, { calledOff: { gone: true } })).toEqual(['2', '3']);
  });

  test('with never holds no order for the value that its name has without a rule', async () => {
    const text = JSON.stringify([of('1', { cancelled: true }), of('2', { Status: 'cancelled' })]);
    expect(await heldIn(text, { calledOff: { cancelled: 'never' } })).toEqual(['2']);
  });

  test('is read before onlyWhere of the same key, and after skipWhere', async () => {
    const rules = {
      onlyWhere: { 'h.status': 'OPEN' },
      calledOff: { 'H.Status': ['gone', 'late'] },
    };
    const all = [
      of('1', { h: { status: 'OPEN' } }),
      of('2', { h: { status: 'GONE' } }),
      of('3', { h: { status: 'X' } }),
    ];
    const orders = JSON.stringify([...all, of('4', { h: { status: 'late' } })]);
    expect(await heldIn(orders, rules)).toEqual(['2', '4']);
    expect(await heldIn(orders, { ...rules, skipWhere: { 'h.status': 'late' } })).toEqual(['2']);
    const flat = ['OPEN', 'gone'].map((status) => ({
      ...JSON.parse(`{"h":{"status":"${status}"}}`),
      purchaseOrderNumber: '1',
      articleCode: status,
      quantity: 1,
    }));
    expect(await heldIn(JSON.stringify(flat), rules)).toEqual(['1']);
    const xml = (status: string, number: number) =>
      `<o><purchaseOrderNumber>${number + 1}</purchaseOrderNumber><h><status>${status}</status></h><items><articleCode>A</articleCode><quantity>1</quantity></items></o>`;
    expect(await heldIn(`<os>${['OPEN', 'gone', 'x'].map(xml).join('')}</os>`, rules)).toEqual([
      '2',
    ]);
  });

  test('that occurs twice is ambiguous', async () => {
    const text = JSON.stringify([of('1', { gone: '', Gone: 'X' })]);
    const { orders } = await readText(text, mappingOf({ calledOff: { gone: 'any' } }));
    expect(inShort(orders)).toEqual([{ 1: [expect.stringContaining('ambiguous-key')] }]);
  });

  test('is an element or an attribute in XML', async () => {
    const order = (number: string, rest: string, attribute = '') =>
      `<order${attribute}><purchaseOrderNumber>${number}</purchaseOrderNumber>${rest}<items><articleCode>A</articleCode><quantity>1</quantity></items><items><articleCode>B</articleCode><quantity>1</quantity></items></order>`;
    const text = `<orders>${order('1', '')}${order('2', '<kz>9</kz>')}${order('3', '', ' kz="9"')}</orders>`;
    expect(await heldIn(text, { calledOff: { KZ: 9 } })).toEqual(['2', '3']);
  });
});

describe('a status', () => {
  const sentWith = async (column: string, values: readonly string[]) => {
    const { orders } = await readText(table(column, ...values));
    return values.filter((_, at) => orders[at]?.valid);
  };
  const every = Object.values(STATUS_WORDS).flatMap((all) =>
    all.flatMap((words) => words.split(', ')),
  );

  test.each([
    'Status',
    'Order status',
    'Auftragsstatus',
    'Document-State',
    'Estado',
    'Stato',
    'statut',
    'Statut commande',
    'Statut de la commande',
    'État',
    'Estado del pedido',
    'Stato ordine',
    "Stato dell'ordine",
    'Status Bestellung',
    'Status of the order',
    'Status text',
  ])(
    'in the column %s holds its order with each word for not yet, done or over',
    async (column) => {
      expect(every.length).toBeGreaterThan(250);
      expect(await sentWith(column, [...every, ...calledOff])).toEqual([]);
    },
  );

  const { calledOff, elsewhere, words } = documented();

  test('has the words that docs/files.md lists', () => {
    expect(words.toSorted()).toEqual(every.toSorted());
    expect(OTHER_STATUS_WORDS.split(', ')).toEqual(expect.arrayContaining(elsewhere));
    expect([...CALLED_OFF, 'delete', 'cancel', 'remove', 'void']).toEqual(
      expect.arrayContaining(calledOff),
    );
    expect([words.length > 250, elsewhere.length, calledOff.length]).toEqual([true, 31, 16]);
  });

  test.each(Object.entries(FORMS))(
    '%s holds its order with each word of docs/files.md and of the code',
    async (_, write) => {
      const all = [...new Set([...every, ...words, ...calledOff, ...CALLED_OFF])].map(write);
      expect(await sentWith('Auftragsstatus', all)).toEqual([]);
      const others = [
        ...new Set([...OTHER_STATUS_WORDS.split(', '), ...elsewhere, ...calledOff, ...CALLED_OFF]),
      ].map(write);
      expect(await sentWith('Zahlungsstatus', others)).toEqual([]);
      const orders = all.map((status, at) => ({
        purchaseOrderNumber: `${at}`,
        status,
        items: [{ articleCode: 'A', quantity: 1 }],
      }));
      expect(await heldIn(JSON.stringify(orders), {})).toHaveLength(all.length);
    },
  );

  test('that begins with the word for the order counts by what follows, and a cancellation that is asked for holds', async () => {
    const held = [
      'ORDER_CANCELLED',
      'orderCancelled',
      'Order cancelled',
      'STATUS_CANCELLED',
      'PurchaseOrder closed',
    ];
    const asked = [
      'CANCEL_REQUESTED',
      'Cancellation requested',
      'PENDING_CANCELLATION',
      'DRAFT_ORDER',
      'PO on hold',
    ];
    expect(await sentWith('Status', [...held, ...asked])).toEqual([]);
    const free = [
      'ORDER_PLACED',
      'orderConfirmed',
      'Order',
      'PO',
      'Ordered',
      'Pointed',
      'Statusless',
    ];
    expect(await sentWith('Status', free)).toEqual(free);
    expect(
      await sentWith('Type', [
        'RETURN_ORDER',
        'PURCHASE_RETURN',
        'orderCancellation',
        'REQUEST_FOR_QUOTE',
      ]),
    ).toEqual([]);
    expect(await sentWith('Type', ['Purchase order', 'STANDARD_ORDER'])).toEqual([
      'Purchase order',
      'STANDARD_ORDER',
    ]);
  });

  test('that says more about its cancellation holds its order', async () => {
    const values = [
      'stornierter Auftrag',
      'cancelledByCustomer',
      'CancelledByCustomer',
      'gelöschte Bestellung',
      'annulées',
    ];
    expect(
      await sentWith('Status', [...values, 'cancelled_by_customer', 'storniert: doppelt']),
    ).toEqual([]);
    const free = [
      'Storno möglich',
      'STORNO MOEGLICH',
      'stornoMöglich',
      'storno bis 22.11.2026',
      'Stornogebühr',
    ];
    expect(await sentWith('Status', free)).toEqual(free);
  });

  test('is written otherwise than what is said elsewhere: accents are meant in remarks and articles', async () => {
    const remarks = ['annule et remplace 4711', 'Annule', 'Storno moeglich'];
    expect(await sentWith('Bemerkung', remarks)).toEqual(remarks);
    expect(
      await sentWith('Bemerkung', [
        'Geloescht',
        'gelöscht'.normalize('NFD'),
        'ENTFAELLT',
        'annulé',
      ]),
    ).toEqual([]);
    const articles = ['ANNULE-1', 'GELOESCHT-7', 'Entfallt 3'];
    const { orders } = await readText(
      `${HEADER}\n${articles.map((one, at) => `${at + 1},${one},1\n`).join('')}`,
    );
    expect(orders.map(({ valid }) => valid)).toEqual([true, true, true]);
  });

  test.each([
    [
      'pending_approval',
      'PendingApproval',
      'IN PRUEFUNG',
      'in Prufung',
      'In-Prüfung',
      'livrée',
      'Clôturée',
      'cerrada',
    ],
    [
      '90 - erledigt',
      '90 closed',
      'C - Closed',
      '[30] Entwurf',
      '4_delivered',
      'geliefert am 22.11.2026',
    ],
    [
      '90 storniert',
      'Delivered (2026-11-22)',
      'closed 2026-11-22T10:00:00Z',
      'ANGEBOT',
      'Vorlage ',
      'in pru\u0308fung',
    ],
  ])('is recognized however it is written: %s, %s, %s …', async (...values) => {
    expect(await sentWith('Status', values)).toEqual([]);
  });

  test.each([
    [
      'nicht geliefert',
      'noch nicht erledigt',
      'teilweise geliefert',
      'teilgeliefert',
      'partially delivered',
      'not closed',
    ],
    [
      'Delivered 50%',
      'geliefert (Rest offen)',
      'to be delivered',
      'zu liefern',
      'unfulfilled',
      're-opened',
      '!closed',
    ],
    [
      '01',
      '90',
      'C',
      'A1',
      'NEW',
      'open',
      'offen',
      'freigegeben',
      'approved',
      'confirmed',
      'bestellt',
      'processing',
    ],
    [
      'in Bearbeitung',
      'paid',
      'bezahlt',
      'pending',
      'in progress',
      'received',
      'sent',
      'Vorlagenbau',
      'closed loop',
    ],
  ])('that says something else holds no order: %s, %s, %s …', async (...values) => {
    expect(await sentWith('Status', values)).toEqual(values);
  });

  test('of a payment, an article, a customer or a transfer that is done holds no order', async () => {
    const columns = [
      [
        'Payment status',
        'Zahlungsstatus',
        'Financial Status',
        'Rechnungsstatus',
        'Artikelstatus',
        'product_status',
      ],
      [
        'Kundenstatus',
        'Supplier status',
        'Export-Status',
        'EDI status',
        'Lagerstatus',
        'sync state',
      ],
      [
        'Delivery address',
        'Description',
        'Artikeltext',
        'Statement',
        'Lieferart',
        'remark',
        'Lieferung',
      ],
    ].flat();
    const values = [
      'closed',
      'completed',
      'geliefert',
      'invoiced',
      'Angebot',
      'Vorlage',
      'in Prüfung',
    ];
    for (const column of columns)
      expect([column, await sentWith(column, values)]).toEqual([column, values]);
    expect(await sentWith('Payment status', ['refunded', 'on hold', 'storniert'])).toEqual([]);
  });

  test('that is done says so in its message, and one of calledOff is a cancellation', async () => {
    const messageFor = async (value: string, settings = {}) => {
      const { orders } = await readText(table('Status', value), mappingOf(settings));
      return orders.flatMap((one) =>
        one.valid ? [] : [one.problems[0]?.message, 'ifWanted' in one],
      );
    };
    expect(await messageFor('erledigt')).toEqual([
      '"erledigt" says that this is done already; discard the order. To order it nevertheless, write confirmed into _error_check of the fix file',
      true,
    ]);
    expect((await messageFor('wartet auf Freigabe'))[0]).toContain('is not wanted yet');
    expect((await messageFor('erledigt', { calledOff: { Status: 'erledigt' } }))[1]).toBe(false);
    expect(await messageFor('erledigt', { calledOff: { Status: 'never' } })).toEqual([]);
    expect(await messageFor('erledigt', { otherReadings: 'allow' })).toEqual([]);
  });

  test.each([
    ['Status,Deleted', 'erledigt,X', false],
    ['Deleted,Status', 'X,erledigt', false],
    ['Status,unit', 'erledigt,box of 10', false],
    ['Status,done', 'erledigt,X', true],
  ])(
    'that is done is what a sent order may be only where nothing else is said of it: %s %s',
    async (header, cells, isDone) => {
      const { orders } = await readText(table(header, cells), mappingOf({}));
      expect(orders.map((one) => !one.valid && 'ifWanted' in one)).toEqual([isDone]);
    },
  );
});
