import { randomUUID } from 'node:crypto';
import { systemClock } from '../core/clock.ts';
import { createCircuitBreaker } from '../deliver/circuit-breaker.ts';
import { createBatches } from '../ledger/batches.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createLog } from '../log/log.ts';
import { createOperator, type OperatorContext } from '../operate/operator-context.ts';
import { openQueue } from '../queue/queue.ts';
import { openStore } from '../redis/store.ts';
import { type CommonArgs, openConfig } from './load-config.ts';
import type { Shell } from './shell.ts';

/**
 * Opens the daemons' store for a command. `confirm`: the command changes something, so a protected environment must be
 * confirmed. Throws PoSyncError as `openConfig` and `openStore`.
 */
export async function openOperatorContext(
  args: CommonArgs,
  shell: Shell,
  { confirm }: { confirm: boolean },
): Promise<OperatorContext & AsyncDisposable> {
  const { config } = await openConfig(args, shell, { confirm });
  await using resources = new AsyncDisposableStack();
  const clock = systemClock;
  const log = createLog({ level: 'silent', pretty: false, stream: shell.streams.err });
  const store = resources.use(await openStore(config, { clock, log, signal: shell.signal }));
  const { redis, keys, time } = store;
  const owner = randomUUID();
  const { probe } = config.delivery;
  const onChange = () => undefined;
  const breaker = createCircuitBreaker({ store, clock, probe, onPaused: onChange, onResumed: onChange });
  const queue = resources.use(openQueue({ store, log }));
  // A command never begins an attempt, so it needs no checkpoint of the ledger.
  const identity = { known: () => ({ epoch: '', sequence: 0 }), saw: () => undefined };
  const kept = resources.move();
  return {
    config,
    store,
    owner,
    clock,
    log,
    stopping: shell.signal,
    ledger: createLedger({ redis, keys, identity }),
    batches: createBatches({ redis, keys, owner }),
    queue,
    breaker,
    operator: createOperator(shell.env, time),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
