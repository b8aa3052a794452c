import type { Cell, FileOf, Tree, Written } from './oracle.ts';

/** Draws the same again from the same seed. */
export type Draw = {
  whole(below: number): number;
  one<Item>(items: readonly Item[]): Item;
  /** True in so many of a hundred cases. */
  in(percent: number): boolean;
};

/** A generator of draws (mulberry32). */
function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (below: number) => Math.floor(next() * below);
  return {
    whole,
    one: (items) => {
      const item = items[whole(items.length)];
      if (item === undefined) throw new Error('nothing to draw from');
      return item;
    },
    in: (percent) => next() * 100 < percent,
  };
}

export type Drawn = { file: FileOf; mapping: Written; maxOrders: number; isWorkbook: boolean };

const NUMBERS = ['PO-1', 'PO-2', 'PO-3', 'PO-4', 'PO-5', '4711', '4712', 'A-1.05', 'A-1.5', '00'];
const SPELLINGS = ['po-1', 'PO-01', 'PO -2', 'po-003', 'PO-0005', '04711', 'A-1.050'];
const BAD_NUMBERS = [
  '',
  'ABC',
  '#N/A',
  '1.23E+15',
  'PO\u00a01',
  'PO  1',
  '=PO1',
  'PO-1\u200b',
  'x'.repeat(250) + '1234567',
  'e\u0301-1',
  'PO-9!',
];
const ARTICLES = ['A-1', 'B-22', 'C 3', 'ABC', '12E4', 'Ä-5'];
const BAD_ARTICLES = ['', '#REF!', '1,2e7', 'A\tB', 'A\ufffd', ' =A', 'A\ue000', 'null?', '12E+4'];
const QUANTITIES = ['1', '2', '10', ' 3 ', '+4', '2.0', '5000'];
const BAD_QUANTITIES = [
  '',
  '0',
  '-1',
  '1,5',
  '1.5',
  '1,000',
  '1.234,5',
  '1e3',
  '3 pcs',
  '1.234',
  "1'000",
  '1234567890123456',
  '5-',
  ',5',
  '007',
  '0.000',
  '12,34,567',
];
const STATES = ['OPEN', 'DRAFT', '', 'open', 'CLOSED', ' OPEN '];
const DATES = ['31.12.2026', '1.2.2026', '30.02.2026', '', '2026-01-05', '05.01.2026'];
const FORMATS = ['General', '0', '@', '0.00', '#,##0', 'yyyy', '0%'];

/** Draws a mapping and a file for it, clean or damaged. */
export function drawn(seed: number): Drawn {
  const draw = drawFrom(seed);
  const maxOrders = draw.in(20) ? 1 + draw.whole(4) : 1_000;
  const form = draw.whole(10);
  if (form < 6) return { ...drawnTable(draw), maxOrders };
  if (form < 7) return { ...drawnTypes(draw), maxOrders, isWorkbook: false };
  return { ...drawnObjects(draw), maxOrders, isWorkbook: false };
}

type Columns = Written['columns'];

/** Columns by names that the form of the file has: `number`, `article`, `quantity` and more or less others. */
function drawnColumns(draw: Draw, nameOf: (name: string, isItem: boolean) => string): Columns {
  const columns: Columns = {};
  const put = (name: string, spec: Columns[string], isItem = true) => {
    columns[nameOf(name, isItem)] = spec;
  };
  const of = () => (draw.in(50) ? { of: 'order' as const } : {});
  put(
    'number',
    { is: 'purchaseOrderNumber', ...(draw.in(15) && { like: '(?:PO|A)-\\d[\\d.]*' }) },
    false,
  );
  put('article', { is: 'articleCode', ...(draw.in(15) && { like: '[A-Z]+-\\d+' }) });
  put('quantity', { is: 'quantity', ...(draw.in(15) && { max: 4 }) });
  if (draw.in(40))
    put(
      'state',
      {
        ...draw.one([
          { send: ['OPEN'] },
          { skip: ['DRAFT'] },
          { send: ['OPEN', ''], skip: ['DRAFT'] },
          { skip: ['DRAFT', ''] },
        ]),
        ...of(),
      },
      draw.in(50),
    );
  if (draw.in(15)) put('state2', { skip: ['CLOSED'], ...of() }, draw.in(50));
  if (draw.in(25))
    put('note', { field: 'note', ...of(), ...(draw.in(30) && { lineBreaks: true }) }, draw.in(50));
  if (draw.in(20))
    put(
      'day',
      {
        field: 'deliveryDate',
        type: 'date',
        format: draw.one(['dd.MM.yyyy', 'd.M.yyyy', 'yyyy-MM-dd']),
        ...of(),
      },
      draw.in(50),
    );
  if (draw.in(15)) put('count', { field: 'count', type: draw.one(['integer', 'number']), ...of() });
  if (draw.in(15)) put('new', { is: 'orderState' }, draw.in(50));
  if (draw.in(50))
    put(
      'plant',
      draw.one<Columns[string]>(['ignore', { ignore: true, lineBreaks: true }]),
      draw.in(50),
    );
  return columns;
}

function drawnRules(draw: Draw): Partial<Written> {
  return {
    ...(draw.in(25) && { otherColumns: 'ignore' }),
    ...(draw.in(25) && { repeatedRows: 'send' }),
    ...(draw.in(20) && { quantity: 'number' }),
    ...(draw.in(25) && { decimal: draw.one([',', '.']) }),
    ...(draw.in(25) && { finalNewline: 'optional' }),
  };
}

/** The value of a column in one record; mostly a good one. `dirt`: so many of a hundred are not. */
function drawnValue(draw: Draw, name: string, dirt: number): string {
  const isBad = draw.in(dirt);
  switch (name) {
    case 'article':
      return draw.one(isBad ? BAD_ARTICLES : ARTICLES);
    case 'quantity':
      return draw.one(isBad ? BAD_QUANTITIES : QUANTITIES);
    case 'state':
    case 'state2':
      return draw.in(75) ? 'OPEN' : draw.one(STATES);
    case 'new':
      return isBad ? draw.one(['', 'new', 'CLOSED']) : 'NEW';
    case 'day':
      return draw.in(70) ? '' : draw.one(DATES);
    case 'count':
      return draw.in(50)
        ? ''
        : draw.one([...QUANTITIES, '0', '-3', '1,5', '-0', '+0', '1.500', 'x']);
    case 'note':
      return draw.in(60)
        ? ''
        : draw.one(['call', 'two  spaces', 'a', 'b', isBad ? 'one\ntwo' : 'c']);
    default:
      return draw.in(50) ? 'W1' : draw.one(['', 'W2', isBad ? 'x\r\ny' : ' ']);
  }
}

/** The numbers of a file's records: in runs, in the wrong sequence now and then. */
function drawnNumbers(draw: Draw, dirt: number): string[] {
  const isSorted = draw.in(70);
  const numbers = Array.from({ length: 1 + draw.whole(5) }, () => draw.one(NUMBERS)).filter(
    (one, at, all) => !isSorted || all.indexOf(one) === at,
  );
  const rows = numbers.flatMap((number) =>
    Array.from({ length: 1 + draw.whole(3) }, () =>
      draw.in(dirt / 2) ? draw.one(BAD_NUMBERS) : draw.in(dirt / 2) ? draw.one(SPELLINGS) : number,
    ),
  );
  if (!isSorted && draw.in(30)) rows.reverse();
  return rows;
}

function drawnTable(draw: Draw): Omit<Drawn, 'maxOrders'> {
  const hasNoHeader = draw.in(12);
  const isFixed = draw.in(40);
  const names = new Map<string, string>();
  const columns = drawnColumns(draw, (name) => {
    const called = hasNoHeader ? String(names.size + 1) : draw.one([name, name.toUpperCase()]);
    names.set(name, called);
    return called;
  });
  const mapping: Written = {
    columns,
    ...drawnRules(draw),
    ...(hasNoHeader && {
      header: 'none',
      ...(isFixed ? { widths: [...names].map(() => 9) } : { delimiter: ',' }),
    }),
    ...(draw.in(20) && { skipRows: ['^Total'] }),
    ...(draw.in(8) && { lastRow: '^END' }),
    ...(draw.in(20) && { fillDown: true }),
  };
  const also = [...names].filter(
    ([, called]) => typeof columns[called] === 'object' && !hasNoHeader,
  );
  if (draw.in(10) && also.length > 0) {
    const [name, called] = draw.one(also);
    const spec = columns[called];
    if (typeof spec === 'object') columns[called] = { ...spec, also: [`other ${name}`] };
  }
  const dirt = draw.one([0, 0, 3, 10, 30]);
  const isWorkbook = draw.in(15);

  const order = [...names.keys()].sort(() => (hasNoHeader ? 0 : draw.whole(3) - 1));
  if (draw.in(dirt)) order.splice(draw.whole(order.length), 1);
  if (draw.in(dirt))
    order.splice(draw.whole(order.length + 1), 0, draw.one(['new column', '', 'number']));
  const spelt = (name: string) =>
    draw.in(20) ? ` ${name.toUpperCase()}` : draw.in(5) ? `other ${name}` : name;
  const header = order.map(spelt);
  if (!hasNoHeader && draw.in(10)) {
    // A column without a name is called by its position.
    const at = draw.whole(order.length);
    const called = names.get(order[at] ?? '') ?? '';
    const spec = columns[called];
    delete columns[called];
    if (spec !== undefined) columns[String(at + 1)] = spec;
    header[at] = '';
  }

  const rows: Cell[][] = [];
  const put = (cells: readonly string[]) => rows.push(cells.map((text) => ({ text })));
  if (!hasNoHeader) {
    if (draw.in(15)) put(['A title']);
    put(header);
  }
  let above = '';
  for (const number of drawnNumbers(draw, dirt)) {
    const shown =
      number === above && (mapping.fillDown ? draw.in(60) : draw.in(dirt / 4)) ? '' : number;
    above = number;
    const cells = order.map((name) => (name === 'number' ? shown : drawnValue(draw, name, dirt)));
    damageRow(draw, cells, dirt);
    put(cells);
    if (draw.in(dirt / 2)) put([...cells]);
    if (draw.in(dirt / 3))
      put(draw.one([['Total', '', '12'], ['', ' ', '\t'], header, order.map(() => ''), ['Total']]));
    if (draw.in(dirt / 9)) put(['END']);
  }
  if (mapping.lastRow !== undefined && draw.in(85)) put(['END']);
  if (isWorkbook)
    for (const row of rows.slice(1))
      for (const [at, cell] of row.entries()) row[at] = drawnMark(draw, cell);
  return { file: { kind: 'table', rows, open: !isWorkbook && draw.in(15) }, mapping, isWorkbook };
}

/** What happens to rows: cells get lost or come in, at the end or before it. */
function damageRow(draw: Draw, cells: string[], dirt: number): void {
  if (!draw.in(dirt)) return;
  const at = draw.whole(cells.length);
  switch (draw.whole(5)) {
    case 0:
      cells.splice(at, 1);
      break;
    case 1:
      cells.splice(at, 0, draw.one(['x', '', '1']));
      break;
    case 2:
      cells.push(draw.one(['', ' ', 'surplus']));
      break;
    case 3:
      cells.length = at + 1;
      break;
    default:
      cells[at] = `${cells[at]}\nPO-1,A-1,5`;
  }
}

function drawnMark(draw: Draw, cell: Cell): Cell {
  if (draw.in(70)) return cell;
  if (draw.in(10)) return { ...cell, struck: true };
  const isNumber = /^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/.test(cell.text);
  if (isNumber)
    return { ...cell, kind: 'number', format: draw.in(60) ? 'General' : draw.one(FORMATS) };
  return draw.in(6)
    ? draw.one<Cell>([
        { text: '2026-03-05', kind: 'date' },
        { text: '#REF!', kind: 'error' },
        { text: 'TRUE', kind: 'boolean' },
      ])
    : cell;
}

function drawnTypes(draw: Draw): { file: FileOf; mapping: Written } {
  const places = { HEAD: ['type'], LINE: ['type'] };
  const columns = drawnColumns(draw, (name, isItem) => {
    const type = isItem ? 'LINE' : 'HEAD';
    places[type].push(name);
    return `${type}.${places[type].length}`;
  });
  const mapping: Written = {
    columns,
    ...drawnRules(draw),
    types: { at: 1, order: 'HEAD', item: 'LINE', ignore: ['END'] },
    delimiter: ',',
    ...(draw.in(20) && { skipRows: ['^Total'] }),
  };
  const dirt = draw.one([0, 0, 3, 10, 30]);
  const rows: Cell[][] = [];
  const put = (cells: readonly string[]) => rows.push(cells.map((text) => ({ text })));
  const record = (type: 'HEAD' | 'LINE', number: string) => {
    const cells = places[type].map((name) =>
      name === 'type' ? type : name === 'number' ? number : drawnValue(draw, name, dirt),
    );
    damageRow(draw, cells, dirt);
    put(cells);
  };
  if (draw.in(dirt)) record('LINE', '');
  for (const number of drawnNumbers(draw, dirt)) {
    record('HEAD', number);
    for (let item = draw.in(dirt / 2) ? 0 : 1 + draw.whole(3); item > 0; item--) record('LINE', '');
    if (draw.in(dirt / 3)) put(draw.one([['Total', '5'], ['NOTE', 'x'], ['END'], ['', '']]));
  }
  return { file: { kind: 'table', rows, open: draw.in(15) }, mapping };
}

function drawnObjects(draw: Draw): { file: FileOf; mapping: Written } {
  const hasItems = draw.in(60);
  const items = draw.one(['lines', 'body.lines']);
  const orderPath = new Map<string, string>();
  const itemPath = new Map<string, string>();
  const columns = drawnColumns(draw, (name, isItem) => {
    const path = draw.in(25) ? `inner.${name}` : name;
    const into = isItem && hasItems ? itemPath : orderPath;
    into.set(name, path);
    return isItem && hasItems ? `${items}.${path}` : path;
  });
  const mapping: Written = {
    columns,
    ...drawnRules(draw),
    ...(hasItems && { items }),
    ...(!hasItems && draw.in(20) && { fillDown: true }),
  };
  const dirt = draw.one([0, 0, 3, 10, 30]);
  const xml = draw.in(25);

  const objectOf = (paths: Map<string, string>, number: string): Record<string, Tree> => {
    const object: Record<string, Tree> = {};
    for (const [name, path] of paths) {
      if (draw.in(dirt / 3)) continue;
      place(
        object,
        draw.in(10) ? path.toUpperCase() : path,
        name === 'number' ? { text: number } : jsonOf(draw, drawnValue(draw, name, dirt), dirt),
      );
    }
    if (draw.in(dirt / 9)) object['QUANTITY'] = { text: '3' };
    if (draw.in(dirt / 4))
      place(
        object,
        draw.one(['extra', 'deep.extra', 'inner.extra']),
        draw.one<Tree>([{ text: 'x' }, null, [], { more: { text: '1' } }]),
      );
    return object;
  };
  const values = drawnNumbers(draw, dirt).map((number): Tree => {
    const object = objectOf(orderPath, number);
    if (!hasItems || draw.in(dirt / 4)) return object;
    const list: Tree[] = Array.from({ length: draw.in(dirt) ? 0 : 1 + draw.whole(3) }, () =>
      objectOf(itemPath, ''),
    );
    if (draw.in(dirt / 4)) list.push({ text: 'no object' });
    if (draw.in(dirt / 4) && list[0] !== undefined) list.push(list[0]);
    place(
      object,
      items,
      draw.in(dirt / 4) ? draw.one<Tree>([{ text: 'x' }, null, list[0] ?? null]) : list,
    );
    return object;
  });
  if (draw.in(dirt / 2)) values.push(draw.one<Tree>([{}, null, { text: 'x' }, []]));
  return { file: { kind: 'objects', values, xml }, mapping };
}

/** Puts a value at a path into an object. */
function place(object: Record<string, Tree>, path: string, value: Tree): void {
  const [step = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    object[step] = value;
    return;
  }
  const key = Object.keys(object).find((one) => one.toLowerCase() === step.toLowerCase()) ?? step;
  const inner = { ...(object[key] as Record<string, Tree> | undefined) };
  place(inner, rest.join('.'), value);
  object[key] = inner;
}

function jsonOf(draw: Draw, text: string, dirt: number): Tree {
  if (draw.in(dirt / 5))
    return draw.one<Tree>([
      null,
      [],
      { inside: { text: '1' } },
      { '#text': { text }, unit: { text: 'EA' } },
      {},
      [{ text }],
      { text: 'true', kind: 'boolean' },
    ]);
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e\d+)?$/.test(text);
  return isNumber && draw.in(60) ? { text, kind: 'json' } : { text };
}
