import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { claimFile } from '../../src/intake/claim.ts';
import { inboxSource } from '../support/inbox-source.ts';

/** On a message from its parent this process claims all CSV files of a folder, and sends back the names that it won. */
const [folder = ''] = process.argv.slice(2);
const names = (await readdir(folder)).filter((name) => name.endsWith('.csv'));
const mine: string[] = [];
process.send?.('ready');
await once(process, 'message');
// Each process uses its own random order, because in a common order the first process would win every file.
for (const name of names.sort(() => Math.random() - 0.5)) {
  // Nobody takes them all before the others have begun.
  await delay(1);
  if ((await claimFile(path.join(folder, name), inboxSource(folder), new Date())) !== 'taken')
    mine.push(name);
}
process.send?.(mine);
process.disconnect();
