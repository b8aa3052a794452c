import path from 'node:path';
import { shorten } from '../order/text.ts';
import { type Entry, mappingInput, type Proposal, propose } from './propose.ts';
import { readSample, type SampleOptions } from './read-samples.ts';
import { hasRows, type Table } from './table.ts';

/**
 * Proposes mappings for sample files, one for each layout. Nothing of it is used before a person puts it into the
 * configuration. PoSyncError as `readSample`, for the first file that cannot be read.
 */
export async function mapFiles(
  files: readonly string[],
  options: SampleOptions = {},
): Promise<Proposal[]> {
  const all: Table[] = [];
  for (const file of files) all.push(await readSample(file, options));
  const taken = new Set<string>();
  return [...Map.groupBy(all, layoutOf).values()].flatMap(([first, ...others]) =>
    first ? propose(freeName(nameOf(first.file), taken), [first, ...others]) : [],
  );
}

/** What files of one mapping have in common, but for their encoding: ASCII is right in every one. */
function layoutOf(table: Table): string {
  const { settings, columns } = table;
  const names = hasRows(table) ? columns.map(({ name }) => name.toLowerCase()).toSorted() : [];
  const own = settings.filter(({ key }) => key !== 'encoding');
  return JSON.stringify([...own.map(({ key, value }) => [key, value]), ...names]);
}

/** A name of letters, digits and hyphens, as a mapping may have. */
function nameOf(file: string): string {
  const base = path.basename(file).replace(/(?:\.\w+)?(?:\.gz)?$/i, '');
  const name = base
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  return name === '' ? 'orders' : name;
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth++) free = `${name}-${nth}`;
  taken.add(free);
  return free;
}

type MapJson = {
  mappings: Readonly<Record<string, unknown>>;
  questions: readonly {
    mapping: string;
    column?: string;
    values?: readonly string[];
    question: string;
  }[];
};

/** The proposals as data. */
export function proposalsJson(proposals: readonly Proposal[]): MapJson {
  return {
    mappings: Object.fromEntries(proposals.map((one) => [one.name, mappingInput(one)])),
    questions: proposals.flatMap(({ name: mapping, questions, before, columns, after }) => [
      ...questions.map((question) => ({ mapping, question })),
      ...[...before, ...after].flatMap((entry) => questionOf(entry, mapping)),
      ...columns.flatMap((entry) => questionOf(entry, mapping, entry.key)),
    ]),
  };
}

function questionOf({ question, values }: Entry, mapping: string, column?: string) {
  if (question === undefined) return [];
  return [
    {
      mapping,
      ...(column !== undefined && { column }),
      ...(values !== undefined && { values }),
      question: shorten(question, 1_000),
    },
  ];
}
