import { z } from 'zod';
import { addressFault } from './address.ts';
import { filePath, name, span, wait } from './fields.ts';

const common = {
  name: name.describe('Stands in batch names and reports.'),
  mapping: name.exactOptional().describe("A key of `mappings`; without it the specification's own four names."),
  stable: wait(10, 3_600_000).prefault('2s').describe('So long a file must not have changed.'),
  expectEvery: span().exactOptional().describe('Silent for longer than this: notices `silent` go out.'),
  doneFile: z.boolean().prefault(false).describe('orders.csv waits for orders.csv.done.'),
};

const poll = wait(10, 86_400_000);

/** A place of this machine, or a web address. */
const exportPath = filePath
  .superRefine((text, context) => {
    const fault = isWebAddress(text) ? addressFault(text, { query: true }) : undefined;
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  })
  .describe('A file, a pattern such as /mnt/erp/*.csv, or an https address.');

/** Where files come from: a folder whose files become ours, or an export that is only read. */
export const sourceSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('inbox').describe('A folder: whoever drops a file gives it away.'),
    path: filePath.describe('The folder.'),
    poll: poll.prefault('10s').describe('How often the folder is looked through, whatever its watcher told.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('export').describe('A file that the ERP writes again and again; only read.'),
    path: exportPath,
    poll: poll.prefault('30s').describe('How often it is looked at.'),
    timeout: wait(100, 86_400_000).prefault('10m').describe('An address: most time for one download.'),
    idle: wait(100, 3_600_000)
      .prefault('30s')
      .describe('An address: without a byte for so long, a download is given up.'),
  }),
]);

/** What sources of both types have, for the rules that compare them. */
export const sourceFields = z.object({
  name: common.name,
  mapping: common.mapping,
  type: z.enum(['inbox', 'export']),
  path: exportPath,
});

/** One source as read: defaults filled in, durations in milliseconds, the path as written. */
export type SourceSettings = z.output<typeof sourceSchema>;

/** Whether an export's path is a web address. */
export function isWebAddress(text: string): boolean {
  return text.includes('://');
}
