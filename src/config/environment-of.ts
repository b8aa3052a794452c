import { PoSyncError } from '../core/errors.ts';
import type { Config, Environment } from './config.ts';

/** The chosen environment. A configuration that was loaded has it. */
export function environmentOf({ environments, environment }: Config): Environment {
  const found = environments[environment];
  if (found === undefined) throw new PoSyncError('environment-unknown', `there is no environment ${environment}.`);
  return found;
}
