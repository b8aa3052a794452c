import path from 'node:path';

const EVENTS = {
  'file-claimed': ({ file }) => `${file}: is being read`,
  'batch-unreadable': ({ file, reason }) => `${file}: cannot be read. ${reason}`,
  'batch-held': ({ batch, reason }) => `${batch}: waits for a person: ${reason}`,
  'batch-finished': ({ file, orders, accepted, needPerson, report }) => {
    const person =
      needPerson > 0 ? `; ${needPerson} ${needPerson === 1 ? 'needs' : 'need'} a person` : '';
    const page = path.join(path.relative(process.cwd(), report), 'report.html');
    return `${file}: ${orders} ${orders === 1 ? 'order' : 'orders'}, ${accepted} accepted${person}\n  ${page}`;
  },
  // No report names it.
  'file-left': ({ file, kind }) =>
    `${file} is not read, because it is a ${kind}: drop the files themselves into inbox/`,
  'delivery-paused': ({ reason }) => `delivery is paused: ${reason}`,
  'delivery-resumed': () => 'delivery has resumed',
};

/** What `npm start` shows of a line of the daemon's log; undefined for most. */
export function newsOf(line) {
  try {
    const facts = JSON.parse(line);
    return EVENTS[facts.event]?.(facts);
  } catch {
    // A message, or the last line of a killed daemon, which may be cut off.
    return undefined;
  }
}
