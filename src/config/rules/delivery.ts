import { isLoopback } from '../address.ts';
import { formatDuration } from '../duration.ts';
import type { Finding } from '../problem.ts';
import type { Rule } from './ruling.ts';

/** Below this, an API of the open network may still be busy with a call that we have given up. */
const SHORT_SETTLE = 10_000;

/** Waits that grow begin below where they end; the settle time fits an API that is not on this machine. */
export const deliveryRule: Rule = ({ delivery, environments }) => {
  if (delivery === undefined) return { problems: [], warnings: [] };
  const remote = environments.some(
    ([, { baseUrl }]) => baseUrl !== undefined && !isLoopback(new URL(baseUrl).hostname),
  );
  const short: Finding = {
    path: ['delivery', 'settle'],
    message: `${formatDuration(delivery.settle)} is short: an order that the API stores later than that can be sent twice`,
  };
  return {
    problems: [...growing('backoff', delivery.backoff), ...growing('probe', delivery.probe)],
    warnings: remote && delivery.settle < SHORT_SETTLE ? [short] : [],
  };
};

function growing(key: string, { initial, max }: { initial: number; max: number }): Finding[] {
  if (initial <= max) return [];
  const message = `${formatDuration(initial)} is longer than ${key}.max, which is ${formatDuration(max)}`;
  return [{ path: ['delivery', key, 'initial'], message }];
}
