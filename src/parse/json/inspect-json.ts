import type { Mapping } from '../../config/config.ts';
import { LIMITS } from '../../order/limits.ts';
import { plainName } from '../../order/text.ts';
import { unreadable } from '../unreadable.ts';
import { takeErrorKeys } from './error-keys.ts';
import type { JsonLayout } from './json-layout.ts';
import { createJsonParser, type JsonRecord } from './json-records.ts';
import { tooLarge } from './json-tokens.ts';

/** What the first pass learns of a JSON file. `layout` is absent when the file holds no value at all. */
export type InspectedJson = { records: number; layout?: JsonLayout; isFixFile: boolean; warnings: string[] };

/** Reads a JSON file to its end and finds where its orders are. */
export async function inspectJson(content: AsyncIterable<Buffer>, mapping: Mapping): Promise<InspectedJson> {
  const finding = openFinding(mapping);
  const parser = createJsonParser(mapping.format === 'ndjson' ? { kind: 'sequence' } : 'unknown', finding);
  let records = 0;
  let isFixFile = false;

  function look(found: readonly JsonRecord[]): void {
    records += found.length;
    if (records > LIMITS.records) throw tooMany();
    for (const record of found) {
      if (takeErrorKeys(record.value)) isFixFile = true;
      finding.onRecord(record);
    }
  }

  for await (const chunk of content) look(parser.write(chunk));
  look(parser.end());
  const layout = finding.layout();
  if (layout === undefined) return { records: 0, isFixFile: false, warnings: [] };
  if (layout.kind === 'array' || layout.kind === 'wrapped') return { records, layout, isFixFile, warnings: [] };
  return { records: finding.roots(), layout, isFixFile: isFixFile || finding.hasErrorKeys(), warnings: [] };
}

type Candidate = { key: string; hasNumbers: boolean };

/** Watches the top level of a file for where the orders are. */
function openFinding(mapping: Mapping) {
  const numberKeys = new Set(mapping.fields.purchaseOrderNumber.map((path) => plainName(path.split('.')[0] ?? path)));
  const itemsKeys = new Set(mapping.fields.items.map((path) => plainName(path.split('.')[0] ?? path)));
  const candidates: Candidate[] = [];
  let roots = 0;
  let isArray = false;
  let hasNumber = false;
  let hasErrorKeys = false;
  let begin = { byte: 0, line: 1 };

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
    onRootEnd(byte: number): void {
      const isOne = roots > 1 || layout()?.kind === 'object';
      if (isOne && byte - begin.byte > LIMITS.recordBytes) throw tooLarge(begin.line);
    },
    onRecord({ value }: JsonRecord): void {
      const candidate = candidates.at(-1);
      if (candidate !== undefined && hasKeyIn(value, numberKeys)) candidate.hasNumbers = true;
    },
    roots: () => roots,
    hasErrorKeys: () => hasErrorKeys,
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

const ONE_ARRAY = 'Give the array of orders alone, or an object that holds no other array.';

function hasKeyIn(value: unknown, keys: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.keys(value).some((key) => keys.has(plainName(key)));
}

function goesOn(line: number) {
  const message = `Line ${line}: the file goes on after its JSON value has ended.`;
  return unreadable('json', message, { line }, 'Give one array of orders, or one order a line as NDJSON.');
}

function tooMany() {
  const message = `The file holds more than ${LIMITS.records} orders.`;
  return unreadable('too-many-records', message, { limit: LIMITS.records }, 'Drop it in parts.');
}
