import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { drawn } from '../mapping/drawn-files.ts';
import type { Oddity } from '../support/odd-api.ts';

/** What people drop and what the API does. */
export type Story = {
  name: string;
  /** Files that are dropped together; a run that ends follows each of these drops. */
  drops: readonly Record<string, string | Buffer>[];
  /** The top-level `mappings:` of the configuration, which has one of the name; the API's own names where absent. */
  mapping?: { name: string; text: string };
  api?: Oddity;
  /** Redis loses everything before the last drop. */
  isLost?: true;
};

/** Every story, with the configuration that the checkout in `root` ships or, where it has other words, is given. */
export function storiesFor(root: string, files: number): Story[] {
  return [...examplesOf(root), ...drawnStories(files), ...STORIES];
}

/** The samples of this checkout, with the mapping that the side ships for each. */
function examplesOf(root: string): Story[] {
  const samples = path.resolve(import.meta.dirname, '../../config/examples');
  return readdirSync(samples)
    .filter((file) => !file.endsWith('.yaml'))
    .map((file) => {
      const name = path.parse(file).name;
      const text = readFileSync(path.join(root, 'config/examples', `${name}.yaml`), 'utf8');
      const drops = [{ [file]: readFileSync(path.join(samples, file)) }];
      return { name: `example ${file}`, drops, mapping: { name, text } };
    });
}

/** Tables that are drawn with their mappings, as the test of the oracle draws them. */
function drawnStories(count: number): Story[] {
  const stories: Story[] = [];
  for (let seed = 1; stories.length < count; seed += 1) {
    const { file, mapping, isWorkbook } = drawn(seed);
    if (file.kind !== 'table' || isWorkbook || mapping.widths !== undefined) continue;
    const rows = stringify(file.rows.map((row) => row.map(({ text }) => text)));
    const text = `mappings:\n  drawn: ${JSON.stringify(mapping)}\n`;
    const drops = [{ 'drawn.csv': file.open ? rows.trimEnd() : rows }];
    stories.push({ name: `drawn ${seed}`, drops, mapping: { name: 'drawn', text } });
  }
  return stories;
}

const fileOf = (...rows: string[]) =>
  `purchaseOrderNumber,articleCode,quantity\n${rows.map((row) => `${row}\n`).join('')}`;
const many = fileOf(...Array.from({ length: 60 }, (_, i) => `PO-${i},ART-${i % 7},${(i % 9) + 1}`));
const onFirst =
  (answer: ReturnType<Oddity>): Oddity =>
  ({ endpoint, attempt }) =>
    endpoint === 'create' && attempt === 1 ? answer : undefined;

const STORIES: readonly Story[] = [
  { name: 'a file', drops: [{ 'orders.csv': many }] },
  {
    name: 'the same orders again, and other items',
    drops: [
      { 'first.csv': fileOf('PO-1,A,1', 'PO-2,A,1') },
      { 'second.csv': fileOf('PO-1,A,1', 'PO-2,A,2', 'PO-3,A,1') },
    ],
  },
  {
    name: 'wrong rows, and their correction',
    drops: [
      { 'orders.csv': fileOf('PO-1,A,1', 'PO-2,A,none', ',A,1', 'PO-3,,1', 'PO-3,B,2') },
      { 'corrected.csv': fileOf('PO-2,A,3', 'PO-3,C,1', 'PO-3,B,2') },
    ],
  },
  {
    name: 'files that cannot be read',
    drops: [
      { 'cut.csv': 'purchaseOrderNumber,articleCode\nPO-1,"A', 'empty.csv': '', 'a.txt': '?' },
    ],
  },
  {
    name: 'answers that are lost',
    drops: [{ 'orders.csv': many }],
    api: onFirst({ drop: true, store: true }),
  },
  { name: 'calls that are lost', drops: [{ 'orders.csv': many }], api: onFirst({ drop: true }) },
  { name: 'an overload', drops: [{ 'orders.csv': many }], api: onFirst({ status: 503 }) },
  {
    name: 'refusals, and the file once more',
    drops: [{ 'orders.csv': many }, { 'again.csv': many }],
    api: ({ order }) => (order?.purchaseOrderNumber.endsWith('7') ? { status: 400 } : undefined),
  },
  {
    name: 'the same orders again after Redis lost everything',
    drops: [{ 'first.csv': many }, { 'second.csv': many, 'new.csv': fileOf('NEW-1,A,1') }],
    isLost: true,
  },
];
