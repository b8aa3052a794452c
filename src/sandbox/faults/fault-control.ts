import { setTimeout as sleep } from 'node:timers/promises';
import { PoSyncError } from '../../core/errors.ts';
import type { Address } from '../address.ts';
import type { Emit } from '../sandbox-options.ts';
import type { Fault, FaultFile } from './fault-file.ts';
import { chance, type Planner, planFaults } from './plan-faults.ts';

/** The faults of a sandbox, which can be replaced while it runs. */
export type FaultControl = AsyncDisposable & {
  /** Plans a call with the faults of the current file; undefined without any. */
  readonly plan: Planner | undefined;
  /** A number from 0 to below 1, by the seed of the current file and the key only. */
  draw(key: string): number;
  /** Begins the outages of the file. Throws PoSyncError `faults-need-auth-port`. */
  attach(addresses: Addresses): void;
  /** Replaces the file: ends its outages, and counts times, calls and attempts from now on. */
  replace(file: FaultFile): Promise<void>;
};

const NO_FAULTS: FaultFile = { seed: 1, faults: [] };

/** Opens the faults of a file; `emit` receives each fault that affects a call. */
export function openFaultControl(file: FaultFile = NO_FAULTS, emit?: Emit): FaultControl {
  let current = file;
  let addresses: Addresses | undefined;
  let outages: AsyncDisposable | undefined;
  let plan = plannerOf(current, emit);
  const end = async () => {
    await outages?.[Symbol.asyncDispose]();
  };
  return {
    get plan() {
      return plan;
    },
    draw: (key) => chance(current.seed, key),
    attach(opened) {
      addresses = opened;
      outages = keepOutages(current, opened);
    },
    async replace(next) {
      await end();
      current = next;
      plan = plannerOf(next, emit);
      if (addresses === undefined) return;
      for (const address of new Set(Object.values(addresses))) await address.comeBack();
      outages = keepOutages(next, addresses);
    },
    [Symbol.asyncDispose]: end,
  };
}

function plannerOf(file: FaultFile, emit: Emit | undefined): Planner | undefined {
  if (file.faults.length === 0) return undefined;
  const begun = performance.now();
  return planFaults(file, () => performance.now() - begun, emit);
}

type Outage = Extract<Fault, { kind: 'outage' }>;
type Addresses = { api: Address; auth: Address };

/** Pause between attempts to reopen an address that another program has taken, in milliseconds. */
const RETRY = 100;

/**
 * Closes and reopens addresses at the times in the fault file, until it is disposed of.
 * Throws PoSyncError `faults-need-auth-port` for an outage of one address when both share one.
 */
function keepOutages(file: FaultFile, addresses: Addresses): AsyncDisposable {
  checkOutages(file, addresses);
  const stopping = new AbortController();
  const kept = outagesIn(file).flatMap((outage) =>
    addressesOf(outage, addresses).map((address) => keep(outage, address, stopping.signal)),
  );
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(kept);
    },
  };
}

function checkOutages(file: FaultFile, { api, auth }: Addresses): void {
  if (api !== auth || outagesIn(file).every(({ address }) => address === 'all')) return;
  throw new PoSyncError(
    'faults-need-auth-port',
    'An outage of only one address requires separate addresses.',
    {
      remedy: 'Add --auth-port 0 to open the token endpoint on its own port.',
    },
  );
}

function outagesIn(file: FaultFile): Outage[] {
  return file.faults.filter((fault) => fault.kind === 'outage');
}

async function keep(
  { from, until }: Outage,
  address: Address,
  stopping: AbortSignal,
): Promise<void> {
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
