import path from 'node:path';

const OUTCOMES = [
  'accepted',
  'duplicate',
  'conflict',
  'invalid',
  'refused',
  'failed',
  'inDoubt',
  'cancelled',
];

const EVENTS = {
  'file-claimed': ({ file }) => `${file}: is being read`,
  'batch-progress': ({ file, done, orders, records }) => {
    const most = records === undefined ? '' : ` of at most ${count(records)}`;
    const all = orders === undefined ? most : ` of ${count(orders)}`;
    return `${file}: ${count(done)}${all} orders done`;
  },
  'batch-held': ({ batch, reason }) => `${batch}: waits for a person: ${reason}`,
  'batch-finished': ({ file, reason, report, ...facts }) => {
    const page = path.join(path.relative(process.cwd(), report), 'report.html');
    const trouble = reason === undefined ? '' : ` cannot be read. ${reason}`;
    const result = reason !== undefined && facts.orders === 0 ? '' : ` ${resultOf(facts)}`;
    return `${file}:${trouble}${result}\n  ${page}`;
  },
  // No report names it.
  'file-left': ({ file, kind }) =>
    `${file} is not read, because it is a ${kind}: drop the files themselves into inbox/`,
  'delivery-paused': ({ reason }) => `delivery is paused: ${reason}`,
  'delivery-resumed': () => 'delivery has resumed',
};

/** `12 orders, 10 accepted, 1 invalid, 1 in doubt; 2 need a person`. */
function resultOf({ orders, needPerson, ...counts }) {
  const all = `${count(orders)} ${orders === 1 ? 'order' : 'orders'}`;
  const parts = OUTCOMES.filter((outcome) => counts[outcome] > 0).map(
    (outcome) => `${count(counts[outcome])} ${outcome === 'inDoubt' ? 'in doubt' : outcome}`,
  );
  const person =
    needPerson > 0 ? `; ${count(needPerson)} ${needPerson === 1 ? 'needs' : 'need'} a person` : '';
  return `${[all, ...parts].join(', ')}${person}`;
}

/** `4,000`. */
function count(number) {
  return number.toLocaleString('en-US');
}

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
