import { systemClock } from '../../src/core/clock.ts';
import { claimFile } from '../../src/intake/claim.ts';
import { createInbox } from '../../src/intake/inbox.ts';
import { capturedLog } from '../support/captured-log.ts';
import { inboxSource } from '../support/inbox-source.ts';
import { until } from '../support/until.ts';

/** A process that takes files from an inbox as another user until one cannot be taken, and sends what it took and logged. */
const [folder = '', user = ''] = process.argv.slice(2);
process.setgroups?.([]);
process.setegid?.(Number(user));
process.seteuid?.(Number(user));

const { log, lines } = capturedLog();
const taken: string[] = [];
const source = inboxSource(folder, { stable: 20, poll: 100 });
await using inbox = createInbox({
  source,
  clock: systemClock,
  log,
  onReady: async (file) => {
    const claimed = await claimFile(file, source, new Date());
    if (claimed !== 'taken') taken.push(claimed.name);
  },
});
await inbox.start();
await until('a file that cannot be taken', () => inbox.notTaken().length > 0);
process.send?.({ taken, lines, notTaken: inbox.notTaken(), healthy: inbox.healthy() });
process.disconnect();
