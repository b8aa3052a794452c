import { z } from 'zod';
import { DEAD_LETTER_KINDS, OUTCOMES } from '../order/outcome.ts';

// What operations answer, as a program reads it. Keys that may be absent are absent when they do not apply.

const text = z.string();
const whole = z.int();
const time = z.iso.datetime();
const isTrue = z.literal(true);
const { strictObject: strict, array: list } = z;
const kind = z.enum(DEAD_LETTER_KINDS);
const role = z.enum(['intake', 'delivery']);
const OPEN = [
  'queued',
  'sending',
  'retry',
  'unknown',
  'conflict',
  'refused',
  'failed',
  'inDoubt',
] as const;

const item = strict({ articleCode: text, quantity: z.number() });
const order = strict({ purchaseOrderNumber: text, orderState: text, items: list(item) });

/** An error, in place of what the operation answers. */
export const problem = strict({
  code: text,
  message: text,
  remedy: text.nullable(),
  facts: z.record(text, z.unknown()),
});

const waits = strict({
  code: z.enum(['layout', 'shape', 'volume', 'refusals', 'mapping', 'workbook', 'space', 'ledger']),
  facts: z.record(text, z.unknown()),
  message: text,
  since: time.optional(),
});

/** `counts.orders` is null while nobody knows how many the file has. */
export const batch = strict({
  batch: text,
  source: text,
  file: text,
  by: text.optional(),
  state: z.enum(['reading', 'sending', 'waiting', 'finished', 'unreadable']),
  startedAt: time,
  lastAt: time,
  sha256: text.optional(),
  bytes: whole.optional(),
  format: strict({
    type: z.enum(['csv', 'json', 'ndjson', 'xlsx', 'xml']),
    delimiter: text.optional(),
    encoding: text.optional(),
    decimal: z.enum(['.', ',']).optional(),
    gzip: z.boolean().optional(),
  }).optional(),
  counts: z.record(z.enum(['records', 'orders', ...OUTCOMES]), whole.nullable()),
  open: whole,
  settled: whole.optional(),
  error: strict({
    code: text,
    message: text,
    remedy: text.optional(),
    line: whole.optional(),
    column: whole.optional(),
    text: text.optional(),
  }).optional(),
  waits: waits.optional(),
  unsettled: strict({ code: text, reason: text, since: time }).optional(),
  cancelled: z.boolean(),
  cancelledBy: strict({ at: time, who: text }).optional(),
  warnings: list(text),
  settledPath: text.optional(),
  report: text,
});

const end = { at: time, by: text, batch: text.optional(), who: text.optional() };

const problemOfRow = {
  line: whole,
  pointer: text.optional(),
  field: text,
  code: text,
  facts: z.record(text, z.unknown()),
  value: text,
  rows: list(text).optional(),
};

const letter = {
  id: text.optional(),
  revision: whole.optional(),
  purchaseOrderNumber: text,
  kind,
  code: text,
  facts: z.record(text, z.unknown()).optional(),
  message: text,
  problems: list(strict(problemOfRow)).optional(),
  httpStatus: whole.optional(),
  response: text.optional(),
  signature: text,
  attempts: whole,
  firstAt: time,
  lastAt: time,
  location: strict({ line: whole, lines: list(whole).optional(), pointer: text.optional() }),
  payload: order.optional(),
  known: order.optional(),
  closed: strict({
    ...end,
    end: strict(end).optional(),
  }).optional(),
};

/** A dead letter of a batch. `now`: the state of its order, if it is no longer that of the dead letter. */
const found = {
  ...letter,
  batch: text,
  source: text,
  file: text,
  now: z.enum(OPEN).optional(),
};

export const deadLetter = strict({
  ...found,
  rows: list(
    strict({
      row: whole,
      line: whole,
      pointer: text.optional(),
      cells: z.record(text, text),
      value: z.unknown().optional(),
    }),
  ),
});

export const deadLetters = strict({
  environment: text,
  deadLetters: list(strict(found)),
  total: whole,
  groups: list(
    strict({
      kind,
      signature: text,
      code: text,
      field: text.optional(),
      message: text,
      count: whole,
      firstAt: time,
      lastAt: time,
    }),
  ),
  withoutReport: list(strict({ batch: text, file: text, orders: whole, report: text })).optional(),
});

const cause = { code: text, facts: z.record(text, z.unknown()), message: text };

const pauseState = strict({
  ...cause,
  since: time,
  held: z.boolean(),
  nextTryAt: time.optional(),
  ends: z.enum(['automatic', 'operator', 'list']),
  waitsForOrder: isTrue.optional(),
});

const daemon = strict({
  host: text,
  pid: whole,
  version: text,
  since: time,
  adminPort: whole.optional(),
  role: role.optional(),
  silentMs: whole.optional(),
  isUnsteady: isTrue.optional(),
  foldersGone: list(strict({ folder: z.enum(['data', 'reports']), path: text })).optional(),
});

const source = strict({
  name: text,
  type: z.enum(['inbox', 'export']),
  path: text,
  state: z.enum(['ok', 'missing', 'no marker', 'other environment', 'unreachable', 'not checked']),
  owner: text.optional(),
  code: text.optional(),
  ignored: strict({ total: whole, entries: list(strict({ name: text, kind: text })) }).optional(),
  waiting: whole.optional(),
  silent: strict({ since: time, expectEveryMs: whole }).optional(),
  waitingFiles: list(
    strict({
      name: text,
      unchangedMs: whole.optional(),
      why: strict({ code: text, reason: text }).optional(),
    }),
  ).optional(),
  last: strict({ batch: text, file: text, at: time }).optional(),
});

const wait = { ...cause, until: time.optional() };

/** `redisAwaySince`: a daemon that cannot reach Redis answers what it read last. */
export const status = strict({
  environment: text,
  baseUrl: text,
  redis: strict({ private: z.boolean() }),
  now: time,
  redisAwaySince: time.optional(),
  daemons: list(daemon),
  sources: list(source),
  queue: strict({
    waitingJobs: whole,
    unsettledOrders: whole,
    ordersInDoubt: whole,
    unreadOrders: whole,
  }),
  waits: list(
    strict({
      ...wait,
      orders: whole,
      unread: whole.optional(),
      oldest: strict({ order: text.optional(), batch: text, since: time }).optional(),
    }),
  ),
  deadLetters: whole,
  sentAgain: whole.optional(),
  guarantee: list(
    strict({
      assumption: z.enum(['A2', 'A3', 'A4', 'A5', 'once']),
      holds: z.boolean().nullable(),
      samples: whole,
      measured: z.union([z.number(), text, z.null()]),
      atLeast: z.number().optional(),
      margin: z.number().nullable(),
      propose: text.optional(),
    }),
  ),
  notTaken: list(
    strict({ source: text, file: text.optional(), reason: text, remedy: text.optional() }),
  ).optional(),
  listFailure: strict({
    since: time,
    says: text,
    answer: text,
    httpStatus: whole.optional(),
    message: text,
  }).optional(),
  batches: list(batch),
  unreadable: list(batch),
  token: strict({
    present: z.boolean(),
    expiresInMs: z.number().optional(),
    unusable: strict(cause).optional(),
  }),
  pauses: list(pauseState),
});

const attempt = strict({
  attempt: whole,
  at: time,
  code: text,
  message: text,
  httpStatus: whole.optional(),
});

/** One order. `nothing`: the ledger has no entry for it. */
export const history = strict({
  order: text,
  state: z.enum(['nothing', 'accepted', ...OPEN]),
  accepted: strict({
    at: time,
    attempts: whole,
    batch: text.optional(),
    by: text.optional(),
  }).optional(),
  open: strict({
    batch: text,
    takenAt: time,
    file: text.optional(),
    by: text.optional(),
    isHeld: isTrue.optional(),
    line: whole,
    content: order,
    attempts: whole,
    used: whole,
    maybeSentAt: time.optional(),
    answer: strict({
      httpStatus: whole.optional(),
      code: text,
      message: text,
      response: text.optional(),
    }).optional(),
    history: list(attempt),
    nextAt: time.optional(),
    waitsFor: strict(wait),
    followedBy: list(text),
  }).optional(),
  timesListed: whole.optional(),
  operatorActions: list(strict({ at: time, who: text, what: text, after: attempt.optional() })),
  appearances: list(
    strict({
      batch: text,
      source: text,
      file: text,
      startedAt: time,
      by: text.optional(),
      result: strict({
        line: whole,
        purchaseOrderNumber: text,
        outcome: z.enum(OUTCOMES),
        attempts: whole,
        at: time,
        code: text,
        message: text,
      }),
      deadLetter: strict(letter).optional(),
      inProgress: isTrue.optional(),
    }),
  ),
});

/** `list`: ok, or why the API's list does not show what is absent. `toSend`: the first orders that would be sent. */
export const submitted = z.union([
  strict({
    dryRun: z.boolean(),
    id: text,
    file: text,
    source: text,
    records: whole,
    orders: whole,
    new: whole,
    unknown: whole,
    duplicate: whole,
    conflict: whole,
    waiting: whole,
    invalid: whole,
    waits: waits.optional(),
    list: text,
    warnings: list(text),
    problems: list(strict({ ...problemOfRow, purchaseOrderNumber: text })),
    toSend: list(
      strict({
        purchaseOrderNumber: text,
        line: whole,
        items: list(item),
        moreItems: whole.optional(),
      }),
    ),
  }),
  strict({ batch: text, file: text, new: whole, unknown: whole }),
]);

export const released = strict({ batch: text, released: z.boolean(), waits });

/** `underWay`: orders that were or may have been sent, and have no outcome yet. `unread`: orders that were not read yet. */
export const cancelled = z.union([
  strict({ batch: text, dryRun: isTrue }),
  strict({
    batch: text,
    cancelled: whole,
    accepted: whole,
    underWay: whole,
    reading: z.boolean(),
    unread: whole.optional(),
    dismissed: isTrue.optional(),
  }),
]);

export const paused = strict({
  environment: text,
  ...cause,
  before: strict(cause).optional(),
});

export const findings = strict({
  ok: z.boolean(),
  findings: list(
    strict({
      check: text,
      state: z.enum(['ok', 'warn', 'fail', 'skipped']),
      message: text,
      remedy: text.optional(),
    }),
  ),
});

export const link = z.union([
  strict({ url: text, who: text, expiresInMs: whole }),
  strict({ signedOut: isTrue }),
]);

/** `lifted`: a wait that the API asked for ended. `pauses`, `heldBatches`: what still keeps orders waiting. */
export const resumed = strict({
  environment: text,
  resumed: z.boolean(),
  lifted: z.boolean(),
  pauses: list(pauseState),
  heldBatches: list(text),
});

/** Orders by verdict: what would become, or became, of them. */
const verdicts = z.record(text, whole);
const listCheck = text;
/** What `--plan` takes; absent where nothing would be done. */
const id = text.optional();
const changed = list(strict({ id: text, order: text, verdict: text })).optional();

/** `plan`: what would be done; `done`: what was. `listCheck`: ok, or why the API's list could not be read. */
export const retried = z.union([
  strict({ dryRun: z.boolean(), id, plan: verdicts, listCheck }),
  strict({ done: verdicts, changed, listCheck }),
]);
export const discarded = z.union([
  strict({ dryRun: z.boolean(), id, plan: verdicts }),
  strict({ done: verdicts, changed }),
]);
export const corrected = strict({
  sent: z.boolean(),
  orders: list(
    strict({
      number: text,
      verdict: z.enum(['new', 'duplicate', 'conflict', 'waiting', 'invalid']),
      problems: list(strict({ row: whole, field: text, code: text, message: text })),
    }),
  ),
  isReady: z.boolean(),
  trouble: text.optional(),
  batch: text.optional(),
});
export const settled = strict({
  order: text,
  as: z.enum(['accepted', 'resend', 'other-order']),
  dryRun: z.boolean(),
  listCheck: listCheck.optional(),
});

/** `young`: accepted orders that the list need not show yet. `inProgress`: listed orders that the daemon settles. */
const differences = {
  listed: whole,
  accepted: whole,
  young: whole,
  inProgress: whole,
  unknown: list(strict({ order: text })),
  differing: list(
    strict({ order: text, here: z.enum(['accepted', ...OPEN]), sameItems: z.boolean() }),
  ),
  twice: list(strict({ order: text, times: whole })),
  missing: list(strict({ order: text, acceptedAt: time })),
};
export const reconciled = z.union([
  strict({
    environment: text,
    ...differences,
    unproved: z.unknown().optional(),
    repaired: strict({ added: whole, settled: list(text), left: strict(differences) }).optional(),
  }),
  strict({ environment: text, released: z.boolean() }),
]);
