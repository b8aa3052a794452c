import { setTimeout as sleep } from 'node:timers/promises';
import { PoSyncError } from '../../core/errors.ts';
import type { Address } from '../address.ts';
import type { Fault, FaultFile } from './fault-file.ts';

type Outage = Extract<Fault, { kind: 'outage' }>;
type Addresses = { api: Address; auth: Address };

/** Pause between attempts to reopen an address that another program has taken, in milliseconds. */
const RETRY = 100;

/**
 * Closes and reopens addresses at the times in the fault file, until it is disposed of.
 * Throws PoSyncError `faults-need-auth-port` for an outage of one address when both share one.
 */
export function keepOutages(file: FaultFile, addresses: Addresses): AsyncDisposable {
  const outages = file.faults.filter((fault) => fault.kind === 'outage');
  const shared = addresses.api === addresses.auth;
  if (shared && outages.some(({ address }) => address !== 'all')) {
    throw new PoSyncError('faults-need-auth-port', 'An outage of only one address requires separate addresses.', {
      remedy: 'Add --auth-port 0 to open the token endpoint on its own port.',
    });
  }
  const stopping = new AbortController();
  const kept = outages.flatMap((outage) =>
    addressesOf(outage, addresses).map((address) => keep(outage, address, stopping.signal)),
  );
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(kept);
    },
  };
}

async function keep({ from, until }: Outage, address: Address, stopping: AbortSignal): Promise<void> {
  if (!(await passed(from, stopping))) return;
  await address.vanish();
  if (!(await passed(until - from, stopping))) return;
  while (!(await isBack(address)) && (await passed(RETRY, stopping)));
}

/** Waits; false if it was interrupted. */
function passed(ms: number, stopping: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal: stopping }).catch(() => false);
}

function isBack(address: Address): Promise<boolean> {
  return address.comeBack().then(
    () => true,
    () => false,
  );
}

function addressesOf({ address }: Outage, { api, auth }: Addresses): Address[] {
  if (address === 'api') return [api];
  return address === 'auth' ? [auth] : [...new Set([api, auth])];
}
