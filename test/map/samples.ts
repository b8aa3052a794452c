import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mappingSchema } from '../../src/config/mapping-schema.ts';
import { mapFiles } from '../../src/setup/map-files.ts';
import { printProposals } from '../../src/setup/print.ts';
import { mappingInput } from '../../src/setup/propose.ts';
import { type Trial, tryFile } from '../../src/setup/test-mapping.ts';
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
export async function triedWith(file: string, answers: Answers = {}): Promise<Trial> {
  const { proposal, mapping } = await proposed(file);
  if (Object.keys(answers).length === 0) return tryFile(file, [{ name: 'm', mapping }]);
  const { columns, ...others } = mappingInput(proposal);
  const changed = { ...columns, ...answers.columns };
  const answered = mappingSchema.parse({ ...others, ...answers, columns: changed });
  return tryFile(file, [{ name: 'm', mapping: answered }]);
}

/** How many orders are sent, and how many are held for each reason; or why nothing is read. */
export function outcome(trial: Trial): string {
  switch (trial.state) {
    case 'ready':
      return [`${trial.sent} sent`, ...trial.held.map((one) => `${one.orders} ${one.code}`)].join(
        ', ',
      );
    case 'waits':
      return `waits: ${JSON.stringify(trial.waits)}`;
    case 'unreadable':
      return `${trial.code}: ${trial.message}`;
  }
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
