import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { claimFile } from '../../src/intake/claim.ts';
import { inboxSource } from '../support/inbox-source.ts';

/** A process that claims every CSV of a folder that it can get, once it is told to, and sends their names to its parent. */
const [folder = ''] = process.argv.slice(2);
const names = (await readdir(folder)).filter((name) => name.endsWith('.csv'));
const mine: string[] = [];
process.send?.('ready');
await once(process, 'message');
// In an order of its own: whoever is ahead in a common one stays ahead.
for (const name of names.sort(() => Math.random() - 0.5)) {
  // Nobody takes them all before the others have begun.
  await delay(1);
  if ((await claimFile(path.join(folder, name), inboxSource(folder), new Date())) !== 'taken') mine.push(name);
}
process.send?.(mine);
process.disconnect();
