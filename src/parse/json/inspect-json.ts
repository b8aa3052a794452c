import type { Mapping } from '../../config/config.ts';
import { LIMITS } from '../../order/limits.ts';
import { plainName } from '../../order/text.ts';
import { createNumberFilter, type NumberFilter } from '../csv/number-filter.ts';
import type { JsonReading } from '../inspection.ts';
import { emptyFile } from '../sniff.ts';
import { unreadable } from '../unreadable.ts';
import { takeErrorKeys } from './error-keys.ts';
import { find, textOf } from './find-key.ts';
import type { JsonLayout } from './json-layout.ts';
import { createJsonParser, type JsonRecord } from './json-records.ts';
import { tooLarge } from './json-tokens.ts';

/** What the first pass finds out about a JSON file. */
export type InspectedJson = { records: number; reading: JsonReading; isFixFile: boolean; warnings: string[] };

/** Reads a JSON file to its end and finds where its orders are. */
export async function inspectJson(
  content: AsyncIterable<Buffer>,
  bytes: number,
  mapping: Mapping,
): Promise<InspectedJson> {
  const repeats = watchRepeats(bytes, mapping);
  const finding = openFinding(mapping, (order) => repeats.look(order));
  const parser = createJsonParser(mapping.format === 'ndjson' ? { kind: 'sequence' } : 'unknown', finding);
  let records = 0;
  let isFixFile = false;

  function look(found: readonly JsonRecord[]): void {
    records += found.length;
    if (records > LIMITS.records) throw tooMany();
    for (const record of found) {
      if (takeErrorKeys(record.value)) isFixFile = true;
      finding.onRecord(record);
      repeats.look(record.value);
    }
  }

  for await (const chunk of content) look(parser.write(chunk));
  look(parser.end());
  const layout = finding.layout();
  if (layout === undefined) throw emptyFile();
  const reading: JsonReading = { kind: 'json', layout, repeated: repeats.found() };
  if (layout.kind === 'array' || layout.kind === 'wrapped')
    return { records, reading, isFixFile, warnings: finding.warnings() };
  return {
    records: finding.roots(),
    reading,
    isFixFile: isFixFile || finding.hasErrorKeys(),
    warnings: finding.warnings(),
  };
}

/** Bytes of the shortest likely order. */
const LEAST_ORDER = 60;

/** Collects the numbers that more than one object has. */
function watchRepeats(bytes: number, mapping: Mapping) {
  const expected = Math.min(LIMITS.records, bytes / LEAST_ORDER);
  const seen = createNumberFilter(expected);
  let repeated: NumberFilter | undefined;
  return {
    look(value: unknown): void {
      if (typeof value !== 'object' || value === null) return;
      const number = textOf(find(value, mapping.fields.purchaseOrderNumber).value) ?? '';
      if (number === '' || !seen.add(number)) return;
      repeated ??= createNumberFilter(expected);
      repeated.add(number);
    },
    found: (): NumberFilter => repeated?.folded() ?? createNumberFilter(0),
  };
}

type Candidate = { key: string; hasNumbers: boolean };

/** Finds where the orders are from a file's top level. `onOrder` gets the keys of each object there that name it. */
function openFinding(mapping: Mapping, onOrder: (value: object) => void) {
  const numberKeys = new Set(mapping.fields.purchaseOrderNumber.map((path) => plainName(path.split('.')[0] ?? path)));
  const itemsKeys = new Set(mapping.fields.items.map((path) => plainName(path.split('.')[0] ?? path)));
  const candidates: Candidate[] = [];
  let roots = 0;
  let isArray = false;
  let hasNumber = false;
  let hasErrorKeys = false;
  let begin = { byte: 0, line: 1 };
  let naming: Record<string, unknown> = {};
  let hasNextPage = false;

  return {
    onRoot(opens: '{' | '[' | undefined, byte: number, line: number): void {
      const isSecond = roots > 0;
      roots += 1;
      if (roots > LIMITS.records) throw tooMany();
      begin = { byte, line };
      if (isSecond && (isArray || opens !== '{') && mapping.format !== 'ndjson') throw goesOn(line);
      if (isSecond && mapping.format === 'json') throw goesOn(line);
      isArray = opens === '[';
    },
    onRootKey(key: string, opens: '{' | '[' | undefined): void {
      if (key.startsWith('_error_')) hasErrorKeys = true;
      if (numberKeys.has(plainName(key))) hasNumber = true;
      if (opens === '[' && roots === 1) candidates.push({ key, hasNumbers: false });
    },
    onRootValue(key: string, value: unknown): void {
      if (numberKeys.has(plainName(key))) naming[key] = value;
      if (NEXT_PAGE.test(key) && typeof value === 'string' && value !== '') hasNextPage = true;
    },
    onRootEnd(byte: number): void {
      onOrder(naming);
      naming = {};
      const isOne = roots > 1 || layout()?.kind === 'object';
      if (isOne && byte - begin.byte > LIMITS.recordBytes) throw tooLarge(begin.line);
    },
    onRecord({ value }: JsonRecord): void {
      const candidate = candidates.at(-1);
      if (candidate !== undefined && hasKeyIn(value, numberKeys)) candidate.hasNumbers = true;
    },
    roots: () => roots,
    hasErrorKeys: () => hasErrorKeys,
    warnings: () => (hasNextPage ? [MORE_PAGES] : []),
    layout,
  };

  function layout(): JsonLayout | undefined {
    if (roots === 0) return undefined;
    if (roots > 1 || mapping.format === 'ndjson') return { kind: 'sequence' };
    if (isArray) return { kind: 'array' };
    const arrays = candidates.filter(({ key, hasNumbers }) => hasNumbers || !itemsKeys.has(plainName(key)));
    const [only, second] = arrays;
    if (hasNumber || only === undefined) return { kind: 'object' };
    if (second === undefined) return { kind: 'wrapped', key: only.key };
    const keys = arrays.map(({ key }) => JSON.stringify(key)).join(' and ');
    throw unreadable('json-shape', `The file's object holds several arrays: ${keys}.`, { line: begin.line }, ONE_ARRAY);
  }
}

/** How OData names the address of the next page. */
const NEXT_PAGE = /^@?odata\.nextLink$/i;
const MORE_PAGES = 'The file is one page of several: it names a next page (nextLink). Drop the other pages as well.';

const ONE_ARRAY = 'Give the array of orders alone, or an object that holds no other array.';

function hasKeyIn(value: unknown, keys: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).some((key) => keys.has(plainName(key)));
}

function goesOn(line: number) {
  const message = `Line ${line}: the file has more data after its JSON value.`;
  return unreadable('json', message, { line }, 'Give one array of orders, or one order a line as NDJSON.');
}

function tooMany() {
  const message = `The file contains more than ${LIMITS.records} orders.`;
  return unreadable('too-many-records', message, { limit: LIMITS.records }, 'Split the file and drop the parts.');
}
