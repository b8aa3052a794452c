import { PoSyncError } from '../../errors.ts';
import type { Address } from '../address.ts';
import type { Fault, FaultFile } from './fault-file.ts';

type Outage = Extract<Fault, { kind: 'outage' }>;

/**
 * Takes addresses away and brings them back at the times of the fault file.
 * Throws PoSyncError `faults-need-auth-port` for an outage of one of two addresses that are the same.
 */
export function keepOutages(file: FaultFile, addresses: { api: Address; auth: Address }): AsyncDisposable {
  const outages = file.faults.filter((fault) => fault.kind === 'outage');
  const shared = addresses.api === addresses.auth;
  if (shared && outages.some(({ address }) => address !== 'all')) {
    throw new PoSyncError(
      'faults-need-auth-port',
      'An outage of the API or of the token endpoint alone needs two addresses.',
      {
        mend: 'Give the token endpoint its own with --auth-port 0.',
      },
    );
  }
  const timers: NodeJS.Timeout[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const turn = (ms: number, step: () => Promise<unknown>) => {
    const take = () => {
      last = last.then(step).catch(() => undefined);
    };
    timers.push(setTimeout(take, ms));
  };
  for (const outage of outages) {
    const touched = addressesOf(outage, addresses);
    turn(outage.from, () => Promise.all(touched.map((address) => address.vanish())));
    turn(outage.until, () => Promise.all(touched.map((address) => address.comeBack())));
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearTimeout(timer);
      await last;
    },
  };
}

function addressesOf({ address }: Outage, { api, auth }: { api: Address; auth: Address }): Address[] {
  if (address === 'api') return [api];
  return address === 'auth' ? [auth] : [...new Set([api, auth])];
}
