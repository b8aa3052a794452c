import path from 'node:path';
import { PoSyncError } from '../core/errors.ts';
import { shorten } from '../order/text.ts';
import { type Entry, mappingInput, type Proposal, propose } from './propose.ts';
import { readSample, type SampleOptions } from './read-samples.ts';
import type { Table } from './table.ts';

export type MapOptions = SampleOptions & {
  /** The name of the mapping; absent: from the first file of its layout. */
  name?: string | undefined;
};

/**
 * Proposes mappings for sample files, one for each layout. Nothing of it is used before a person puts it into the
 * configuration. PoSyncError as `readSample`, for the first file that cannot be read.
 */
export async function mapFiles(
  files: readonly string[],
  options: MapOptions = {},
): Promise<Proposal[]> {
  const { name } = options;
  if (name !== undefined && !/^[a-z\d][\w-]{0,62}$/i.test(name))
    throw new PoSyncError('map-name', `${JSON.stringify(shorten(name))} is no name of a mapping.`, {
      remedy: 'Use letters, digits, - and _, beginning with a letter or digit.',
    });

  const layouts = new Map<string, [Table, ...Table[]]>();
  for (const file of files) {
    const table = await readSample(file, options);
    const key = layoutOf(
      table,
      [...layouts.values()].map(([first]) => first),
    );
    const known = layouts.get(key);
    if (known === undefined) layouts.set(key, [table]);
    else known.push(table);
  }

  const taken = new Set<string>();
  return [...layouts.values()].map((tables) =>
    propose(freeName(name ?? nameOf(tables[0].file), taken), tables),
  );
}

/** What files of one mapping have in common. ASCII is right in every encoding. */
function layoutOf(table: Table, others: readonly Table[]): string {
  const { settings, columns, isAscii, format } = table;
  const isTable = format === 'csv' || format === 'xlsx';
  const names = isTable ? columns.map(({ name }) => name.toLowerCase()).toSorted() : [];
  const keyed = (encoding: string | undefined) =>
    JSON.stringify([
      ...settings.filter(({ key }) => key !== 'encoding').map(({ key, value }) => [key, value]),
      ['encoding', encoding],
      ...names,
    ]);
  if (!isAscii) return keyed(encodingOf(table));
  const same = others.find((one) => keyed(encodingOf(one)) === layoutOf(one, []));
  return keyed(same === undefined ? undefined : encodingOf(same));
}

function encodingOf({ settings }: Table): string | undefined {
  return settings.find(({ key }) => key === 'encoding')?.value;
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
