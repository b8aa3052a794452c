import { startCommandOf } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import type { Status } from '../../operate/delivery/read-status.ts';
import { seenJson } from '../../operations/run-environment.ts';
import { needsYou, statusView } from '../../views/status.ts';
import { type CommonArgs, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { createLiveScreen, linesThatFit } from '../terminal/live-view.ts';
import { formatOf, printJson } from '../terminal/print.ts';
import { viewText } from '../terminal/view-text.ts';
import type { View } from './definitions/operation-command.ts';

/** Milliseconds between two readings of `--watch`. */
const WATCH_PAUSE = 2_000;

export const view: View<object, { status: Status }> = {
  text: ({ status }, { context, format }) =>
    viewText(statusView(status, startCommandOf(context.config)), format),
};

type StatusArgs = CommonArgs & { watch: boolean; exitCode: boolean };

/**
 * `status [--watch] [--exit-code]`: the current state of the environment. Exit code 0, whatever the state; with
 * `--exit-code` 2 if it needs a person.
 */
export async function statusCommand(args: StatusArgs, shell: Shell): Promise<number> {
  if (args.watch && args.json) throw watchWith('--json');
  if (args.watch && args.exitCode) throw watchWith('--exit-code');
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const textOf = (status: Status) =>
    viewText(statusView(status, startCommandOf(context.config)), formatOf(shell));
  if (!args.watch) {
    const seen = await context.status();
    if (args.json) printJson(shell, seenJson(seen));
    else shell.out(textOf(seen.status));
    return args.exitCode && needsYou(seen.status).length > 0 ? 2 : 0;
  }
  const screen = createLiveScreen(shell.streams.out, () => shell.columns);
  while (!shell.signal.aborted) {
    const text = textOf((await context.status()).status);
    // Lines that no longer fit the terminal could not be replaced.
    if (shell.isTTY) screen.show(linesThatFit(text, shell.rows - 1));
    else shell.out(`${text}\n`);
    await context.clock.sleep(WATCH_PAUSE, shell.signal);
  }
  return 0;
}

function watchWith(option: string): PoSyncError {
  return new PoSyncError(
    'usage-conflicting-option',
    `Options --watch and ${option} cannot be combined.`,
    {
      remedy: `Run po-sync status ${option} once for each reading.`,
      facts: { option: '--watch' },
    },
  );
}
