// The rules for files once more, from their text alone and as slow as it likes. It shares no code with the program, so that
// both are wrong in the same way only if the rules are.

/** A cell or a value: its text, and what it is if it is no text. */
export type Cell = {
  text: string;
  kind?: 'number' | 'date' | 'boolean' | 'error' | 'json' | 'list';
  format?: string;
  struck?: true;
};

export type Tree = Cell | readonly Tree[] | { readonly [key: string]: Tree } | null;

export type FileOf =
  | { kind: 'table'; rows: readonly (readonly Cell[])[]; open: boolean }
  | { kind: 'objects'; values: readonly Tree[]; xml: boolean };

type Spec = {
  is?: string;
  like?: string;
  max?: number;
  send?: string[];
  skip?: string[];
  field?: string;
  type?: string;
  format?: string;
  of?: string;
  ignore?: true;
  also?: string[];
  lineBreaks?: boolean;
};

/** A mapping as it is written in the configuration. */
export type Written = {
  columns: Record<string, Spec | 'ignore'>;
  otherColumns?: 'wait' | 'ignore';
  orderState?: string;
  quantity?: 'integer' | 'number' | { value: number };
  articleCode?: { value: string };
  skipRows?: string[];
  lastRow?: string;
  fillDown?: boolean;
  repeatedRows?: 'hold' | 'send';
  finalNewline?: 'required' | 'optional';
  header?: 'none';
  items?: string;
  types?: { at: number; order: string; item: string; ignore?: string[] };
  decimal?: '.' | ',';
  delimiter?: string;
  widths?: number[];
};

type Item = { articleCode: string; quantity: number; fields?: Record<string, string | number> };
export type Sent = { number: string; items: Item[]; fields?: Record<string, string | number> };

/** What the rules say: `read` as it is released with its damaged rows, `without` without them. */
export type Verdict =
  | { unreadable: true }
  | {
      waits: 'layout' | 'shape' | 'volume' | undefined;
      missing: string[];
      undeclared: string[];
      skipped: number;
      orders: number;
      read: Outcome;
      without: Outcome;
    };
export type Outcome = { sent: Sent[]; held: string[]; damaged: number[] };

/** One record after the decisions about it alone. */
type Entry = {
  line: number;
  what: 'row' | 'head' | 'out' | 'damaged';
  number: string;
  /** Of objects with items and of files with record types: which order it belongs to. */
  order?: number;
  part?: boolean;
  value: (name: string) => Cell | undefined;
  content: string;
  cut: boolean;
  bad?: boolean;
  /** The values in its cells that have line breaks. */
  inside?: string[];
};

const NONE: Cell = { text: '' };
const trim = (text: string) => {
  let [from, to] = [0, text.length];
  while (from < to && ' \t\ufeff'.includes(text[from] ?? '')) from++;
  while (to > from && ' \t\ufeff'.includes(text[to - 1] ?? '')) to--;
  return text.slice(from, to);
};
const plain = (name: string) =>
  name
    .normalize('NFC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .toLowerCase();
const specOf = (spec: Spec | 'ignore' | undefined): Spec =>
  spec === 'ignore' || spec === undefined ? { ignore: true } : spec;
const isUsed = (spec: Spec) => spec.ignore !== true;
const broken = (cell: Cell) => /[\r\n]/.test(trim(cell.text));
const insideOf = (row: readonly Cell[]) =>
  row.filter(broken).flatMap(({ text }) => text.split(/[\r\n",;\t|]/).map(trim));

/** Numbers are one without case, white space, and zeros that begin a group of digits. */
function sameNumber(number: string): string {
  const text = Array.from(number.normalize('NFC').toUpperCase().normalize('NFC'))
    .filter((one) => one.trim() !== '')
    .join('');
  let out = '';
  for (let at = 0; at < text.length; at++) {
    const isDigit = (one: string | undefined) => one !== undefined && one >= '0' && one <= '9';
    const before = out.at(-1);
    const begins = before === undefined || !(isDigit(before) || before === '.' || before === ',');
    if (text[at] === '0' && begins && isDigit(text[at + 1])) continue;
    out += text[at];
  }
  return out;
}

/** Why a text may not be sent as a number, an article or a text; false where it may. */
function isOutside(cell: Cell, what: 'number' | 'article' | 'text', like?: string): boolean {
  const text = trim(cell.text);
  if (
    cell.struck ||
    cell.kind === 'date' ||
    cell.kind === 'boolean' ||
    cell.kind === 'error' ||
    cell.kind === 'list'
  )
    return true;
  if (cell.kind === 'number' && !['General', '0', '@'].includes(cell.format ?? '')) return true;
  if (cell.kind === 'json' && !/^\d+$/.test(text)) return true;
  const characters = Array.from(text);
  if (characters.length < 1 || characters.length > 256 || text.normalize('NFC') !== text)
    return true;
  if (characters.some((one) => /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\ufffd]/u.test(one))) return true;
  if (
    characters.some((one, at) =>
      one !== ' '
        ? /\s/u.test(one)
        : at === 0 || at === characters.length - 1 || characters[at + 1] === ' ',
    )
  )
    return true;
  if (what === 'text') return false;
  if (like !== undefined) return !new RegExp(`^(?:${like})$`, 'u').test(text);
  const digits = /\p{Nd}/u.test(text);
  if (text[0] === '=' || (text[0] === '#' && !digits) || '!?'.includes(text.at(-1) ?? '.'))
    return true;
  const parts = /^([+-]?\d*)([.,]\d*)?[eE]([+-]?)(\d+)$/.exec(text);
  if (
    parts &&
    /\d/.test(`${parts[1]}${parts[2] ?? ''}`) &&
    (parts[2] !== undefined || parts[3] !== '')
  )
    return true;
  return what === 'number' && !digits;
}

/** A number in the declared notation; undefined where it is none, or none with one reading. */
function amount(
  cell: Cell,
  decimal: '.' | ',' | undefined,
  whole: boolean,
  signed = false,
): number | undefined {
  let text = trim(cell.text);
  if (cell.struck || ['date', 'boolean', 'error', 'list'].includes(cell.kind ?? ''))
    return undefined;
  const stored = cell.kind === 'number' || cell.kind === 'json';
  if (cell.kind === 'number' && !/^(General|0|0\.0+|#,##0|#,##0\.0+)$/.test(cell.format ?? ''))
    return undefined;
  const minus = signed && text[0] === '-';
  if (minus) text = text.slice(1);
  if (minus && /^[+-]/.test(text)) return undefined;
  if (!stored && text[0] === '+') text = text.slice(1);
  const found = new Set<string>();
  for (const sign of stored ? ['.'] : decimal === undefined ? ['.', ','] : [decimal]) {
    const [before = '', after, ...more] = text.split(sign);
    if (more.length > 0 || (after !== undefined && !/^\d+$/.test(after))) continue;
    const other = stored ? '' : `${sign === '.' ? ',' : '.'}'’ \u00a0\u202f\u2009`;
    const group = Array.from(other).find((one) => before.includes(one));
    const groups = group === undefined ? [before] : before.split(group);
    const isGrouped =
      groups.length > 1 &&
      /^[1-9]\d{0,2}$/.test(groups[0] ?? '') &&
      groups.slice(1).every((one) => /^\d{3}$/.test(one));
    const isPlain = /^\d+$/.test(before) || (before === '' && after !== undefined && !stored);
    if (isPlain || isGrouped)
      found.add(
        `${Number(groups.join('') || '0')}.${(after ?? '').replace(/0+$/, '')}|${groups.join('')}.${after ?? ''}`,
      );
  }
  if (new Set([...found].map((one) => one.split('|')[0])).size !== 1) return undefined;
  const [digits = '', fraction = ''] = ([...found][0]?.split('|')[1] ?? '').split('.');
  const kept = fraction.replace(/0+$/, '');
  if ((whole && kept !== '') || digits.replace(/^0+/, '').length + kept.length > 15)
    return undefined;
  const value = Number(`${digits || '0'}.${kept || '0'}`);
  if (!signed && value <= 0) return undefined;
  return minus && value !== 0 ? -value : value;
}

function dateOf(cell: Cell, format = 'yyyy-MM-dd'): string | undefined {
  const text = trim(cell.text);
  if (cell.kind === 'date' && !cell.struck) return text;
  if (isOutside(cell, 'text')) return undefined;
  const order = [...format.matchAll(/dd?|MM?|yyyy/g)];
  const pattern = order
    .reduce(
      (done, [token]) => done.replace(token, token === 'yyyy' ? 'Y' : token.length > 1 ? 'T' : 'O'),
      format,
    )
    .replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
    .replace('Y', '(\\d{4})')
    .replace(/T/g, '(\\d\\d)')
    .replace(/O/g, '(\\d{1,2})');
  const match = new RegExp(`^${pattern}$`).exec(text);
  if (match === null) return undefined;
  const get = (letter: string) =>
    Number(match[1 + order.findIndex(([token]) => token.startsWith(letter))]);
  const [y, m, d] = [get('y'), get('M'), get('d')];
  const days = new Date(Date.UTC(2000 + (y % 400), m, 0)).getUTCDate();
  if (m < 1 || m > 12 || d < 1 || d > days) return undefined;
  return `${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`;
}

/** What a record is: the rules about one record, in the order of decisions. */
function decide(
  file: FileOf,
  mapping: Written,
): { entries: Entry[]; missing: string[]; undeclared: string[]; wide: boolean } | undefined {
  return file.kind === 'objects'
    ? decideObjects(file, mapping)
    : mapping.types
      ? decideTypes(file, mapping)
      : decideRows(file, mapping);
}

const specsOf = ({ columns }: Written) =>
  Object.entries(columns).map(([name, spec]) => ({ name, ...specOf(spec) }));
const neededOf = (mapping: Written) =>
  specsOf(mapping).filter(({ is }) => is !== undefined && is !== 'orderState');
const isLeftOut = (spec: Spec & { name: string }, value: Entry['value']) => {
  const cell = value(spec.name);
  return (
    cell !== undefined &&
    !cell.struck &&
    cell.kind !== 'error' &&
    cell.kind !== 'list' &&
    spec.skip?.includes(trim(cell.text)) === true
  );
};

function decideRows(file: FileOf & { kind: 'table' }, mapping: Written) {
  const specs = specsOf(mapping);
  let start = -1;
  const at = new Map<string, number>();
  let header: string[] | undefined;
  if (mapping.header === 'none') for (const { name } of specs) at.set(name, Number(name) - 1);
  else {
    const found = (
      cells: readonly string[],
      { name, also = [] }: { name: string; also?: string[] },
    ) =>
      cells.flatMap((cell, index) =>
        [name, ...also].some((one) => plain(one) === (plain(cell) || String(index + 1)))
          ? [index]
          : [],
      );
    start = file.rows.slice(0, 50).findIndex((row) =>
      neededOf(mapping).every(
        (spec) =>
          found(
            row.map(({ text }) => trim(text)),
            spec,
          ).length > 0,
      ),
    );
    if (start < 0) return undefined;
    header = file.rows[start]?.map(({ text }) => trim(text)) ?? [];
    for (const spec of specs) {
      const [first, second] = found(header, spec);
      if (second !== undefined) return undefined;
      if (first !== undefined) at.set(spec.name, first);
    }
  }
  const missing = specs
    .filter((spec) => isUsed(spec) && !at.has(spec.name))
    .map(({ name }) => name);
  const last = Math.max(...specs.filter(isUsed).map(({ name }) => at.get(name) ?? -1));
  const breaks = new Set(
    specs.filter(({ lineBreaks }) => lineBreaks).map(({ name }) => at.get(name)),
  );
  const numberSpec = specs.find(({ is }) => is === 'purchaseOrderNumber');
  const undeclared = new Set<string>();
  for (const [index, name] of (header ?? []).entries())
    if (![...at.values()].includes(index) && name !== '') undeclared.add(name);

  type Data = { row: readonly Cell[]; line: number; skips: boolean };
  const data: Data[] = [];
  let ended = false;
  for (const [index, row] of file.rows.entries()) {
    if (index <= start || row.every(({ text }) => trim(text) === '')) continue;
    const texts = row.map(({ text }) => trim(text));
    if (
      header?.every((name, each) => (texts[each] ?? '') === name) &&
      texts.slice(header.length).every((text) => text === '')
    )
      continue;
    if (ended) return undefined;
    const written = row.map(({ text }) => text).join(',');
    if (mapping.lastRow !== undefined && new RegExp(mapping.lastRow, 'u').test(written))
      ended = true;
    else
      data.push({
        row,
        line: index + 1,
        skips: (mapping.skipRows ?? []).some((one) => new RegExp(one, 'u').test(written)),
      });
  }
  if (mapping.lastRow !== undefined && !ended) return undefined;

  const width = header?.length ?? mapping.widths?.length ?? Infinity;
  const read = data.filter(({ skips }) => !skips);
  const surplus = (row: readonly Cell[]) =>
    row.flatMap(({ text }, index) => (index >= width && trim(text) !== '' ? [index] : []));
  const wide =
    header !== undefined && read.length > 0 && read.every(({ row }) => surplus(row).length > 0);
  for (const { row } of read)
    for (const [index, { text }] of row.entries())
      if (
        ![...at.values()].includes(index) &&
        trim(text) !== '' &&
        (index < width ? (header?.[index] ?? '') === '' : wide)
      )
        undeclared.add(String(index + 1));

  const entries: Entry[] = [];
  let above: string | undefined;
  for (const { row, line, skips } of data) {
    const own = row[at.get(numberSpec?.name ?? '') ?? -1] ?? NONE;
    const value = (name: string) => (at.has(name) ? (row[at.get(name) ?? -1] ?? NONE) : undefined);
    const content = row.map(({ text }, index) =>
      index === at.get(numberSpec?.name ?? '') ? '' : trim(text),
    );
    while (content.at(-1) === '') content.pop();
    const isLast = file.open && line === file.rows.length && mapping.finalNewline !== 'optional';
    const cut =
      isLast && specs.some((spec) => isUsed(spec) && at.get(spec.name) === row.length - 1);
    const inside = insideOf(row);
    const entry = { line, value, content: JSON.stringify(content), cut, number: '', inside };
    if (skips) {
      entries.push({ ...entry, what: 'out' });
      continue;
    }
    if (
      row.length <= last ||
      (!wide && surplus(row).length > 0) ||
      row.some((cell, index) => broken(cell) && !breaks.has(index))
    ) {
      entries.push({
        ...entry,
        what: 'damaged',
        number: isOutside(own, 'number', numberSpec?.like) ? '' : trim(own.text),
      });
      above = undefined;
      continue;
    }
    const number = trim(own.text) === '' && mapping.fillDown ? above : trim(own.text);
    if (specs.some((spec) => spec.of !== 'order' && isLeftOut(spec, value))) {
      entries.push({ ...entry, what: 'out' });
      above = number;
      continue;
    }
    const isBad =
      number === undefined || isOutside({ ...own, text: number }, 'number', numberSpec?.like);
    entries.push(isBad ? { ...entry, what: 'damaged' } : { ...entry, what: 'row', number });
    above = isBad ? undefined : number;
  }
  return { entries, missing, undeclared: [...undeclared], wide };
}

function decideTypes(file: FileOf & { kind: 'table' }, mapping: Written) {
  const { types = { at: 1, order: '', item: '' } } = mapping;
  const specs = specsOf(mapping);
  const at = (name: string) => Number(name.slice(name.indexOf('.') + 1)) - 1;
  const of = (type: string) => specs.filter(({ name }) => name.startsWith(`${type}.`));
  const numberSpec = specs.find(({ is }) => is === 'purchaseOrderNumber');
  const undeclared = new Set<string>();
  const entries: Entry[] = [];
  let head: {
    state: 'good' | 'out' | 'damaged';
    row: readonly Cell[];
    number: string;
    order: number;
  } = { state: 'damaged', row: [], number: '', order: 0 };
  let order = 0;
  for (const [index, row] of file.rows.entries()) {
    if (row.every(({ text }) => trim(text) === '')) continue;
    const line = index + 1;
    const isSkip = (mapping.skipRows ?? []).some((one) =>
      new RegExp(one, 'u').test(row.map(({ text }) => text).join(',')),
    );
    const type = trim(row[types.at - 1]?.text ?? '');
    const isHead = type === types.order;
    const blank = { line, number: '', content: '', cut: false };
    if (isSkip) {
      entries.push({ ...blank, what: 'out', value: () => NONE });
      continue;
    }
    if (types.ignore?.includes(type)) continue;
    if (!isHead && type !== types.item) {
      undeclared.add(type || String(types.at));
      continue;
    }
    const own = of(type);
    for (const [each, { text }] of row.entries())
      if (each !== types.at - 1 && trim(text) !== '' && !own.some(({ name }) => at(name) === each))
        undeclared.add(`${type}.${each + 1}`);
    const isDamaged =
      row.length <= Math.max(-1, ...own.filter(isUsed).map(({ name }) => at(name))) ||
      row.some(
        (cell, each) =>
          broken(cell) && !own.some((spec) => spec.lineBreaks && at(spec.name) === each),
      );
    const headRow = isHead ? row : head.row;
    const value = (name: string) =>
      (name.startsWith(`${types.order}.`)
        ? headRow[at(name)]
        : isHead
          ? undefined
          : row[at(name)]) ?? NONE;
    const out = own.some((spec) => spec.of !== 'order' && isLeftOut(spec, value));
    const content = row.map(({ text }) => trim(text));
    while (content.at(-1) === '') content.pop();
    const isLast = file.open && line === file.rows.length && mapping.finalNewline !== 'optional';
    const cut = isLast && own.some((spec) => isUsed(spec) && at(spec.name) === row.length - 1);
    const inside = insideOf(row);
    const entry = { line, value, content: JSON.stringify(content), cut, number: '', inside };
    if (isHead) {
      const cell = value(numberSpec?.name ?? '') ?? NONE;
      const isBad = isOutside(cell, 'number', numberSpec?.like);
      const number = isBad ? '' : trim(cell.text);
      const state = isDamaged ? 'damaged' : out ? 'out' : isBad ? 'damaged' : 'good';
      if (state === 'good') order++;
      head = { state, row, number, order };
      entries.push({
        ...entry,
        what: state === 'good' ? 'head' : state,
        number: state === 'out' ? '' : number,
        order,
      });
    } else if (isDamaged) entries.push({ ...entry, what: 'damaged' });
    else if (head.state === 'out' || out)
      entries.push({ ...entry, what: 'out', order: head.order, part: head.state === 'good' });
    else if (head.state === 'damaged') entries.push({ ...entry, what: 'damaged' });
    else entries.push({ ...entry, what: 'row', number: head.number, order: head.order });
  }
  return { entries, missing: [], undeclared: [...undeclared], wide: false };
}

const isCell = (tree: Tree): tree is Cell =>
  tree !== null && !Array.isArray(tree) && 'text' in tree && typeof tree.text === 'string';
const isObject = (tree: Tree | undefined): tree is { readonly [key: string]: Tree } =>
  tree !== undefined && tree !== null && !Array.isArray(tree) && !isCell(tree);

/** All values inside, by their plain path; lists are one value. */
function leaves(
  tree: Tree,
  path: string,
  into: Map<string, Cell>,
  isWhole: (path: string) => boolean,
): void {
  if (tree === null) into.set(path, NONE);
  else if (isCell(tree)) into.set(path, tree);
  else if (Array.isArray(tree) || isWhole(path)) into.set(path, { text: '', kind: 'list' });
  else
    for (const [key, inner] of Object.entries(tree))
      leaves(inner, path === '' ? plain(key) : `${path}.${plain(key)}`, into, isWhole);
}

const hasText = (tree: Tree): boolean =>
  tree !== null &&
  (isCell(tree)
    ? trim(tree.text) !== ''
    : Array.isArray(tree)
      ? tree.some(hasText)
      : Object.values(tree).some(hasText));

function decideObjects(file: FileOf & { kind: 'objects' }, mapping: Written) {
  const specs = specsOf(mapping);
  const { items } = mapping;
  const isItem = (name: string) =>
    items !== undefined && plain(name).startsWith(`${plain(items)}.`);
  const nameOf = (path: string) =>
    specs.find(({ name, also = [] }) => [name, ...also].some((one) => plain(one) === path));
  const covering = (path: string) =>
    nameOf(path) ??
    specs.find(({ name, also = [], ignore }) =>
      [name, ...also].some((one) => ignore && path.startsWith(`${plain(one)}.`)),
    );
  const isInside = (path: string) =>
    specs.some(({ name, also = [] }) =>
      [name, ...also].some((one) => plain(one).startsWith(`${path}.`)),
    ) || plain(items ?? '').startsWith(`${path}.`);
  const seen = new Map<string, string>();
  const undeclared = new Set<string>();
  let rows = 0;
  let lines = 0;
  let twice = false;
  let hasList = false;
  const numberSpec = specs.find(({ is }) => is === 'purchaseOrderNumber');

  /** The declared values of an object; what is not declared is noted. */
  function valuesOf(tree: Tree, path: string, into: Map<string, Cell>): void {
    if (!isObject(tree)) return;
    for (const [key, inner] of Object.entries(tree)) {
      if (key === '#text') continue;
      const name = path === '' ? plain(key) : `${path}.${plain(key)}`;
      if (items !== undefined && name === plain(items)) {
        hasList = true;
        continue;
      }
      const spec = nameOf(name);
      if (isObject(inner) && spec === undefined && isInside(name)) valuesOf(inner, name, into);
      else if (spec !== undefined) {
        if (into.has(spec.name) || (seen.get(spec.name) ?? name) !== name) twice = true;
        seen.set(spec.name, name);
        const text = isObject(inner) ? (inner['#text'] ?? (file.xml ? NONE : null)) : inner;
        const isList = isObject(inner) ? text === null : inner !== null && !isCell(inner);
        into.set(
          spec.name,
          isList ? { text: '', kind: 'list' } : text !== null && isCell(text) ? text : NONE,
        );
        if (isObject(inner)) valuesOf(inner, name, into);
      } else if (
        covering(name) === undefined &&
        (!isInside(name) || (isCell(inner) && trim(inner.text) !== ''))
      )
        undeclared.add(name);
    }
  }

  /** All objects once; what is missing in all of them is only known after a first time. */
  function once(isGone: (name: string) => boolean): Entry[] {
    rows = 0;
    lines = 0;
    const entries: Entry[] = [];
    let above: string | undefined;
    for (const [index, tree] of file.values.entries()) {
      rows++;
      if (!hasText(tree)) {
        const ignored = new Map<string, Cell>();
        valuesOf(tree, '', ignored);
        continue;
      }
      const line = index + 1;
      const own = new Map<string, Cell>();
      valuesOf(tree, '', own);
      const value = (name: string) => (isGone(name) ? undefined : (own.get(name) ?? NONE));
      const cell = value(numberSpec?.name ?? '') ?? NONE;
      const contentOf = (one: Tree) => {
        const into = new Map<string, Cell>();
        leaves(one, '', into, () => false);
        const names = [numberSpec?.name ?? '', ...(numberSpec?.also ?? [])].map(plain);
        const filled = [...into].filter(
          ([path, { text, kind }]) =>
            (trim(text) !== '' || kind === 'list') && !names.includes(path),
        );
        const texts = filled.map(([path, { text }]) => JSON.stringify([path, trim(text)]));
        return texts.toSorted((a, b) => (a < b ? -1 : 1)).join();
      };
      const entry = { line, value, cut: false, number: '', order: index };
      const own_ = specs.filter(({ name }) => !isItem(name));
      const out = own_.some((spec) => spec.of !== 'order' && isLeftOut(spec, value));
      if (items === undefined) {
        const number =
          trim(cell.text) === '' && cell.kind === undefined && mapping.fillDown
            ? above
            : trim(cell.text);
        const isBad =
          number === undefined || isOutside({ ...cell, text: number }, 'number', numberSpec?.like);
        entries.push({
          ...entry,
          content: contentOf(tree),
          what: out ? 'out' : isBad ? 'damaged' : 'row',
          number: isBad ? '' : number,
        });
        above = out ? number : isBad ? undefined : number;
        continue;
      }
      const isBad = isOutside(cell, 'number', numberSpec?.like);
      if (out || isBad) {
        entries.push({ ...entry, content: '', what: out ? 'out' : 'damaged' });
        continue;
      }
      const number = trim(cell.text);
      let list: Tree | undefined = tree;
      for (const step of items.split('.')) {
        const found: [string, Tree][] = isObject(list) ? Object.entries(list) : [];
        list = found.find(([key]) => plain(key) === plain(step))?.[1];
      }
      const parts = Array.isArray(list) ? list : isObject(list) && file.xml ? [list] : [];
      const isNoList =
        list !== undefined &&
        list !== null &&
        !Array.isArray(list) &&
        !(isObject(list) && file.xml) &&
        !(isCell(list) && trim(list.text) === '');
      entries.push({ ...entry, content: '', what: 'head', number, bad: isNoList });
      for (const part of parts) {
        lines++;
        const inner = new Map(own);
        valuesOf(part, plain(items), inner);
        const valueOfPart = (name: string) =>
          isGone(name) ? undefined : (inner.get(name) ?? NONE);
        const isOut = specs.some(
          (spec) => isItem(spec.name) && spec.of !== 'order' && isLeftOut(spec, valueOfPart),
        );
        entries.push({
          ...entry,
          value: valueOfPart,
          content: contentOf(part),
          what: isOut ? 'out' : 'row',
          part: true,
          number,
          bad: !isObject(part),
        });
      }
    }
    return entries;
  }
  const isMissing = (name: string) =>
    !seen.has(name) && (isItem(name) && hasList ? lines : rows) > 0;
  once(() => false);
  if (twice || neededOf(mapping).some(({ name }) => isMissing(name))) return undefined;
  return {
    entries: once(isMissing),
    missing: specs.filter((spec) => isUsed(spec) && isMissing(spec.name)).map(({ name }) => name),
    undeclared: [...undeclared],
    wide: false,
  };
}

/** Rules 3 to 5 for the rows of one order; undefined where it is held, 'out' where it is left out. */
function judge(
  rows: readonly Entry[],
  mapping: Written,
  isThere: (name: string) => boolean,
): Sent | 'out' | undefined {
  const specs = specsOf(mapping).filter(({ name }) => isThere(name));
  const items = rows.filter(({ what }) => what === 'row');
  const valuesOf = (name: string) =>
    rows
      .map(({ value }) => value(name) ?? NONE)
      .filter(
        ({ text, kind, struck }) =>
          trim(text) !== '' || struck || kind === 'error' || kind === 'list',
      );
  const ofOrder = specs
    .filter(({ of }) => of === 'order')
    .map((spec) => {
      const cells = valuesOf(spec.name);
      return {
        spec,
        texts: new Set(cells.map(({ text }) => trim(text))),
        cell:
          cells.toReversed().find(({ kind, struck }) => kind !== undefined || struck) ??
          cells[0] ??
          NONE,
      };
    });
  if (ofOrder.some(({ spec, texts, cell }) => texts.size <= 1 && isLeftOut(spec, () => cell)))
    return 'out';
  let isHeld = items.length === 0 || rows.some(({ bad, cut }) => bad || cut);
  if (
    mapping.repeatedRows !== 'send' &&
    new Set(items.map(({ content }) => content)).size < items.length
  )
    isHeld = true;
  if (new Set(rows.map(({ number }) => number)).size > 1) isHeld = true;
  const isWrong = ({ send }: Spec, cell: Cell) =>
    send !== undefined &&
    (!send.includes(trim(cell.text)) ||
      cell.struck === true ||
      cell.kind === 'error' ||
      cell.kind === 'list');
  const fieldOf = ({ type = 'text', format }: Spec, cell: Cell) => {
    if (trim(cell.text) === '' && !cell.struck && cell.kind !== 'error' && cell.kind !== 'list')
      return null;
    if (type === 'date') return dateOf(cell, format);
    if (type === 'text') return isOutside(cell, 'text') ? undefined : trim(cell.text);
    return amount(cell, mapping.decimal, type === 'integer', true);
  };
  const orderFields: Record<string, string | number> = {};
  for (const { spec, texts, cell } of ofOrder) {
    if (texts.size > 1 || isWrong(spec, cell)) isHeld = true;
    const value = spec.field === undefined ? null : fieldOf(spec, cell);
    if (value === undefined) isHeld = true;
    else if (value !== null && spec.field !== undefined) orderFields[spec.field] = value;
  }
  const read = items.map(({ value }) => {
    const item: Item = {
      articleCode: mapping.articleCode?.value ?? '',
      quantity: typeof mapping.quantity === 'object' ? mapping.quantity.value : 0,
    };
    const fields: Record<string, string | number> = {};
    for (const spec of specs) {
      const cell = value(spec.name) ?? NONE;
      if (spec.is === 'articleCode') {
        if (isOutside(cell, 'article', spec.like)) isHeld = true;
        item.articleCode = trim(cell.text);
      } else if (spec.is === 'quantity') {
        const found = amount(cell, mapping.decimal, (mapping.quantity ?? 'integer') === 'integer');
        if (found === undefined || found > (spec.max ?? Infinity)) isHeld = true;
        item.quantity = found ?? 0;
      } else if (spec.is === 'orderState') {
        if (
          trim(cell.text) !== 'NEW' ||
          cell.struck ||
          cell.kind === 'error' ||
          cell.kind === 'list'
        )
          isHeld = true;
      } else if (spec.of !== 'order') {
        if (isWrong(spec, cell)) isHeld = true;
        const found = spec.field === undefined ? null : fieldOf(spec, cell);
        if (found === undefined) isHeld = true;
        else if (found !== null && spec.field !== undefined) fields[spec.field] = found;
      }
    }
    return Object.keys(fields).length > 0 ? { ...item, fields } : item;
  });
  if (isHeld) return undefined;
  return {
    number: rows[0]?.number ?? '',
    items: read,
    ...(Object.keys(orderFields).length > 0 && { fields: orderFields }),
  };
}

/** What the rules say about a file. */
export function verdictOf(file: FileOf, mapping: Written, maxOrders: number): Verdict {
  const decided = decide(file, mapping);
  if (decided === undefined) return { unreadable: true };
  const { entries, missing, undeclared, wide } = decided;
  const hasHeads = mapping.types !== undefined || mapping.items !== undefined;
  const isNeighbor = !(file.kind === 'objects' && hasHeads);
  const good = entries.filter(({ what }) => what === 'row' || what === 'head');
  const groupOf = (entry: Entry) => (hasHeads ? `${entry.order}` : sameNumber(entry.number));
  const groups = new Map<string, Entry[]>();
  for (const entry of good)
    groups.set(groupOf(entry), [...(groups.get(groupOf(entry)) ?? []), entry]);
  const damaged = entries.filter(({ what }) => what === 'damaged');

  const held = new Set<string>();
  for (const [at, entry] of entries.entries()) {
    if (entry.what !== 'damaged') continue;
    const isGood = ({ what }: Entry) => what === 'row' || what === 'head';
    const above = entries.slice(0, at).findLast(isGood);
    const below = entries.slice(at).find(isGood);
    for (const one of isNeighbor ? [above, below] : []) if (one) held.add(groupOf(one));
    for (const [name, rows] of groups)
      for (const one of [entry.number, ...(entry.inside ?? [])])
        if (one !== '' && sameNumber(rows[0]?.number ?? '') === sameNumber(one)) held.add(name);
  }
  const twice = (number: string) =>
    hasHeads &&
    [...groups.values()].filter(([first]) => sameNumber(first?.number ?? '') === sameNumber(number))
      .length > 1;
  const isApart =
    !hasHeads &&
    [...groups].some(([name, rows]) => {
      const [first, last] = [good.indexOf(rows[0] as Entry), good.indexOf(rows.at(-1) as Entry)];
      return good.slice(first, last + 1).some((entry) => groupOf(entry) !== name);
    });

  const outcomeOf = (isWithout: boolean): Outcome => {
    const outcome: Outcome = {
      sent: [],
      held: [],
      damaged: isWithout ? [] : damaged.map(({ line }) => line),
    };
    for (const [name, rows] of groups) {
      const isAllOut =
        hasHeads &&
        rows.every(({ what, bad }) => what === 'head' && !bad) &&
        entries.some(({ what, part, order }) => what === 'out' && part && `${order}` === name);
      const isBeside = !isWithout && held.has(name);
      const result =
        isAllOut && !(isBeside && isNeighbor && isBesideOf(name))
          ? 'out'
          : judge(
              rows,
              mapping,
              (one) => !missing.includes(one) && rows[0]?.value(one) !== undefined,
            );
      if (result === 'out') continue;
      if (result === undefined || isBeside || twice(rows[0]?.number ?? ''))
        outcome.held.push(`${rows[0]?.line}:${rows[0]?.number}`);
      else outcome.sent.push(result);
    }
    return outcome;
  };
  const isBesideOf = (name: string) =>
    entries.some(
      (entry, at) =>
        entry.what === 'damaged' &&
        [
          entries.slice(0, at).findLast(({ what }) => what === 'row' || what === 'head'),
          entries.slice(at).find(({ what }) => what === 'row' || what === 'head'),
        ].some((one) => one !== undefined && groupOf(one) === name),
    );

  const [read, without] = [outcomeOf(false), outcomeOf(true)];
  const orders = without.sent.length + without.held.length;
  const isLayout =
    missing.length > 0 || (undeclared.length > 0 && (mapping.otherColumns !== 'ignore' || wide));
  const waits = isLayout
    ? 'layout'
    : damaged.length > 0 && isApart
      ? 'shape'
      : orders > maxOrders
        ? 'volume'
        : undefined;
  const skipped = entries.filter(({ what }) => what === 'out').length;
  return { waits, missing, undeclared, skipped, orders, read, without };
}
