import path from 'node:path';
import { z } from 'zod';
import { addressFault, line, name, span, tls, wait } from './fields.ts';

const MAPPING = { error: 'expected the name of a mapping, or a list of names' };

const common = {
  name: name.describe('Used in batch names and reports.'),
  mapping: z
    .union([name, z.array(name).min(1, MAPPING)], MAPPING)
    .exactOptional()
    .describe(
      'A key of `mappings`, or several: the one whose layout the file has. Absent: the field names of the API.',
    ),
  stable: wait(10, 3_600_000)
    .prefault('2s')
    .describe('How long a file must stay unchanged: longer than its writer pauses.'),
  expectEvery: span()
    .exactOptional()
    .describe('Sends `silent` notices when no file arrives for this long.'),
  answers: line
    .exactOptional()
    .describe(
      'A folder that receives the results of each batch for the sending program: the rows with their outcomes.',
    ),
  maxOrders: z.int().min(1).exactOptional().describe('A file with more orders waits for a person.'),
};

const poll = wait(10, 86_400_000);

/** A local path or a web address. */
const exportPath = line
  .superRefine((text, context) => {
    const fault = isWebAddress(text) ? addressFault(text, { query: true }) : undefined;
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .describe('A file, a pattern such as /mnt/erp/*.csv, or an https address.');

const ENDINGS = ['csv', 'tsv', 'txt', 'json', 'ndjson', 'xml'];

/** The names of order files that an inbox takes where its source names none. */
export const USUAL_FILES = [...ENDINGS.flatMap((one) => [`*.${one}`, `*.${one}.gz`]), '*.xlsx'];

const fileNames = z
  .array(line.regex(/^[^/\\]+$/, { error: 'expected the name of a file, such as *.csv' }))
  .min(1, { error: 'must name at least one pattern' })
  .prefault(USUAL_FILES);

/** A source of files: a folder whose files po-sync takes, or an export that is only read. */
export const sourceSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z
      .literal('inbox')
      .describe('A folder; po-sync takes the order files that are dropped there.'),
    path: line.describe('The folder.'),
    files: fileNames.describe('The names that are taken: * stands for any characters, ? for one.'),
    doneFile: z.boolean().prefault(false).describe('orders.csv waits for orders.csv.done.'),
    poll: poll.prefault('10s').describe('Polling interval, independent of file-system events.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('export').describe('A file that the ERP rewrites; only read.'),
    path: exportPath,
    newestOnly: z
      .boolean()
      .prefault(false)
      .describe('For a pattern: only the newest file is read, because each has all open orders.'),
    poll: poll.prefault('30s').describe('Polling interval.'),
    timeout: wait(100, 86_400_000)
      .prefault('10m')
      .describe('For an address: maximum time of one download.'),
    idle: wait(100, 3_600_000)
      .prefault('30s')
      .describe('For an address: stops a download that sends no byte for this long.'),
    tls,
  }),
]);

/** The keys of sources that rules compare. */
export const sourceFields = z.object({
  name: common.name,
  mapping: common.mapping,
  type: z.enum(['inbox', 'export']),
  answers: common.answers,
  path: exportPath,
});

/** One source as read: with defaults, durations in milliseconds, the path as written. */
export type SourceSettings = z.output<typeof sourceSchema>;

/** Whether a path, or a step of one, has a wildcard. An address is no pattern, whatever its query has. */
export function isPattern(text: string): boolean {
  return /[*?[{]/.test(text) && !isWebAddress(text);
}

/** Whether an export's path is a web address. */
export function isWebAddress(text: string): boolean {
  return text.includes('://');
}

/** The folder of a file or pattern, up to its first wildcard. */
export function fixedFolder(pattern: string): string {
  return path.dirname(pattern.replace(/[*?[{].*$/, 'x'));
}
