import { PoSyncError } from '../../core/errors.ts';
import { type SentRow, sentRows } from '../../correct/patch.ts';
import {
  type Correctable,
  type Correction,
  type CorrectionResult,
  type CorrectionState,
  stateOf,
} from '../../operate/corrections/corrections.ts';
import { resultText } from '../../operations/run-correct.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import { type AdminRequest, jsonReply, type Principal, type Route } from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { type FullLetter, readLetter } from './dead-letter-routes.ts';
import { acting } from './operation-routes.ts';
import { readQuery } from './query.ts';

/** The rows of a dead letter, and what a person makes of them. */
export function fixRoutes(api: ApiContext): Route[] {
  const routes: Route[] = [
    {
      method: 'GET',
      path: '/api/v1/dead-letters/:id/rows',
      async handle({ url, params }) {
        readQuery(url, []);
        const letter = await readLetter(api, params['id'] ?? '');
        return jsonReply(200, rowsJson(await api.corrections.open(letter)));
      },
    },
    {
      method: 'GET',
      path: '/api/v1/dead-letters/:id/corrections',
      async handle({ url, params }) {
        readQuery(url, []);
        const items = await readCorrections(api, await readLetter(api, params['id'] ?? ''));
        return jsonReply(200, { items });
      },
    },
    {
      method: 'POST',
      path: '/api/v1/dead-letters/:id/fix',
      body: 'json',
      handle: (request) => fix(api, request),
    },
  ];
  return routes.map(api.needingRedis);
}

async function fix(api: ApiContext, { params, body, principal }: AdminRequest) {
  const letter = await readLetter(api, params['id'] ?? '');
  const { revision, corrected, dryRun, confirm } = readFix(body);
  if (dryRun) {
    const checked = await api.corrections.check(
      letter,
      await api.corrections.open(letter),
      corrected,
    );
    return jsonReply(200, { sent: false, ...checked });
  }
  const { checked, sent } = await sendCorrection(
    api,
    letter,
    { revision, corrected, confirm },
    principal,
  );
  if (sent === undefined) return jsonReply(200, { sent: false, ...checked });
  const address = `/api/v1/batches/${encodeURIComponent(sent.batch)}`;
  return jsonReply(
    201,
    { sent: true, ...checked, batch: sent.batch, address },
    { location: address },
  );
}

type Sending = {
  revision: number;
  corrected: readonly SentRow[];
  confirm?: string | undefined;
};

/** Sends a correction for a person and records it. PoSyncError as `send` of the corrections. */
export async function sendCorrection(
  api: ApiContext,
  letter: FullLetter,
  { revision, corrected, confirm }: Sending,
  principal: Principal | undefined,
): Promise<CorrectionResult> {
  api.needIntake();
  const request = { on: letter.id, ...(confirm === undefined ? {} : { confirm }) };
  return acting('fix', request, principal, api, async (context) => {
    const result = await api.corrections.send(letter, { revision, corrected }, context.operator);
    return { ...result, text: resultText(result) };
  });
}

function rowsJson({ rows, revision }: Correctable) {
  const shown = rows.map(({ place, cells, problems }, i) => ({
    row: i + 1,
    place,
    cells: Object.fromEntries(cells.map(({ name, value }) => [name, value])),
    problems,
  }));
  return { revision, rows: shown };
}

/** A correction with what became of it. `left`: its open dead letters. */
export type CorrectionView = Correction & {
  state: CorrectionState;
  accepted: number;
  left: { id: string; purchaseOrderNumber: string; message: string }[];
};

/** The corrections of a dead letter, oldest first. */
export async function readCorrections(
  api: ApiContext,
  letter: Pick<FoundDeadLetter, 'batch' | 'id'>,
): Promise<CorrectionView[]> {
  const { letters } = await api.tables();
  const sent = await api.corrections.history(letter);
  return Promise.all(
    sent.map(async (one): Promise<CorrectionView> => {
      const batch = await api.base.batches.find(one.batch);
      const { items } = await letters.page({ batch: one.batch }, 10);
      const left = items.map(({ id, purchaseOrderNumber, message }) => ({
        id,
        purchaseOrderNumber,
        message,
      }));
      const state = stateOf(one, batch, api.base.store.time.now());
      return {
        ...one,
        state,
        accepted: (batch?.counts.accepted ?? 0) + (batch?.counts.duplicate ?? 0),
        left,
      };
    }),
  );
}

/** PoSyncError `body-wrong`. */
function readFix(body: unknown) {
  const { id: _, revision, rows, dryRun, confirm, ...others } = objectIn(body);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(`Unknown field ${unknown.slice(0, 40)}.`);
  const corrected = sentRows(rows);
  if (corrected === undefined)
    throw wrong(
      'rows must be a list of { row, cells: { NAME: text }, delete?, send? }; without row, one is added.',
    );
  if (dryRun !== undefined && typeof dryRun !== 'boolean')
    throw wrong('dryRun must be true or false.');
  return {
    revision: typeof revision === 'number' ? revision : 0,
    corrected,
    dryRun: dryRun === true,
    confirm: typeof confirm === 'string' ? confirm : undefined,
  };
}

function objectIn(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw wrong('The body must be an object.');
}

function wrong(message: string): PoSyncError {
  return new PoSyncError('body-wrong', message);
}
