import type { SentRow } from '../../correct/patch.ts';
import {
  type Correction,
  type CorrectionResult,
  type CorrectionState,
  stateOf,
} from '../../operate/corrections/corrections.ts';
import { resultText } from '../../operations/run-correct.ts';
import type { FoundDeadLetter } from '../../put-away/dead-letters-in-progress.ts';
import type { Principal } from '../http/route.ts';
import type { ApiContext } from './api-context.ts';
import { acting } from './operation-routes.ts';
import type { FullLetter } from './read-letters.ts';

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
  const tables = await api.tables();
  const sent = await api.corrections.history(letter);
  return Promise.all(
    sent.map(async (one): Promise<CorrectionView> => {
      const batch = await api.base.batches.find(one.batch);
      const { items } = tables.page({ batch: one.batch }, 10);
      return {
        ...one,
        state: stateOf(one, batch, api.base.store.time.now()),
        accepted: (batch?.counts.accepted ?? 0) + (batch?.counts.duplicate ?? 0),
        left: items,
      };
    }),
  );
}
