import { readScript, type Script } from '../../src/redis/script.ts';
import { breaker, clock, identity, listProof, rebuild } from './circuit-breaker-scripts.ts';
import {
  adopt,
  begin,
  closeDeadLetters,
  commit,
  count,
  follow,
  hold,
  lookup,
  total,
  underWay,
  unfollow,
} from './ledger-scripts.ts';
import type { Port } from './port.ts';
import type { Breach } from './weather.ts';

/** The place of the circuit breaker among the keys of `commit.lua`. */
const BREAKER = 8;

/** The scripts of src by the name that Redis knows them by. */
export function loadScripts(breach?: Breach): ReadonlyMap<string, Port> {
  const sha = (file: string): string =>
    readScript(new URL(`../../src/${file}`, import.meta.url)).sha;
  return new Map<Script['sha'], Port>([
    [sha('ledger/commit.lua'), breach === 'pause unnoticed' ? commitAlways : commit],
    [sha('ledger/lookup.lua'), lookup],
    [sha('ledger/count.lua'), count],
    [sha('ledger/follow.lua'), follow],
    [sha('ledger/unfollow.lua'), unfollow],
    [sha('ledger/close-dead-letters.lua'), closeDeadLetters],
    [sha('ledger/batches/begin.lua'), begin],
    [sha('ledger/batches/hold.lua'), hold],
    [sha('ledger/batches/total.lua'), total],
    [sha('ledger/batches/under-way.lua'), underWay],
    [sha('ledger/adopt.lua'), adopt],
    [sha('ledger/identity.lua'), identity],
    [sha('redis/clock.lua'), clock],
    [sha('deliver/circuit-breaker.lua'), breaker],
    [sha('reconcile/ledger-rebuild.lua'), rebuild],
    [sha('reconcile/list-proof.lua'), listProof],
  ]);
}

/** Commits an intent also while delivery is paused. */
const commitAlways: Port = (store, keys, args) => commit(store, keys.with(BREAKER, ''), args);

/** Forgetting a token of one grant. */
const invalidate: Port = (store, [key = ''], [prefix = '']) =>
  store.get(key)?.startsWith(prefix) ? store.del(key) : 0;

/** Renewing or releasing a lease, or forgetting a token. */
export function leaseScript(text: string): Port {
  const renews = text.includes('PEXPIRE');
  if (text.includes('string.sub')) return invalidate;
  if (text.includes('PTTL'))
    return (store, [key = ''], [ttl = '']) => store.shorten(key, Number(ttl));
  return (store, [key = ''], [owner = '', ttl = '']) => {
    if (store.get(key) !== owner) return 0;
    if (!renews) return store.del(key);
    store.set(key, owner, Number(ttl));
    return 1;
  };
}
