import { PoSyncError } from '../core/errors.ts';
import type { Config } from './config.ts';
import { type Variables, variable } from './variables.ts';

const CONFIRM = 'PO_SYNC_CONFIRM';

/**
 * Lets a protected environment pass only when it is named once more, by `--confirm` or `PO_SYNC_CONFIRM`.
 * Throws PoSyncError `confirmation-missing`.
 */
export function requireConfirmation(config: Config, flag: string | undefined, env: Variables): void {
  const { environment, environments } = config;
  const said = flag ?? variable(env, CONFIRM);
  if (environments[environment]?.protected !== true || said === environment) return;
  const found = said === undefined ? '' : `, and ${flag === undefined ? CONFIRM : '--confirm'} names ${said}`;
  throw new PoSyncError('confirmation-missing', `${environment} is a protected environment${found}.`, {
    remedy: `If it is meant: --confirm ${environment}, or ${CONFIRM}=${environment}.`,
    facts: { environment },
  });
}
