import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Mapping, mappingSchema } from '../../src/config/mapping-schema.ts';
import { inspectFile, readOrderPages } from '../../src/mapping/read-file.ts';
import { mapFiles } from '../../src/setup/map-files.ts';
import { printProposals } from '../../src/setup/print.ts';
import { mappingInput } from '../../src/setup/propose.ts';
import { configOf, LEAST } from '../support/config-text.ts';

/** What a person changes in a proposed mapping: keys of it, and of its columns. */
export type Answers = Record<string, unknown> & { columns?: Record<string, unknown> };

/** The proposed mapping of a file, printed and read by the loader of the configuration. */
export async function proposed(file: string) {
  const proposals = await mapFiles([file]);
  const printed = printProposals(proposals);
  const [proposal] = proposals;
  if (proposal === undefined) throw new Error('no mapping');
  const loaded = configOf(LEAST + printed).config.mappings[proposal.name];
  if (loaded === undefined) throw new Error('not loaded');
  return { proposal, printed, mapping: loaded };
}

/** What the file would send with its proposed mapping, after these answers. */
export async function triedWith(file: string, answers: Answers = {}): Promise<string> {
  const { proposal, mapping } = await proposed(file);
  if (Object.keys(answers).length === 0) return outcomeOf(file, mapping);
  const { columns, ...others } = mappingInput(proposal);
  const changed = { ...columns, ...answers.columns };
  const answered = mappingSchema.parse({ ...others, ...answers, columns: changed });
  return outcomeOf(file, answered);
}

/** How many orders are sent, and how many are held for each reason. */
async function outcomeOf(file: string, mapping: Mapping): Promise<string> {
  const inspection = await inspectFile(file, [{ name: 'm', mapping }]);
  if (inspection.state !== 'ready') return `waits: ${JSON.stringify(inspection.state.waits)}`;
  const held: Record<string, number> = {};
  let sent = 0;
  for await (const page of readOrderPages(file, inspection))
    for (const one of page) {
      const [problem] = 'problems' in one ? one.problems : [];
      if (problem === undefined) sent += 1;
      else held[problem.code] = (held[problem.code] ?? 0) + 1;
    }
  return [`${sent} sent`, ...Object.entries(held).map(([code, all]) => `${all} ${code}`)].join(
    ', ',
  );
}

export async function fileIn(
  folder: string,
  name: string,
  content: string | Buffer,
): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return file;
}
