import { PoSyncError } from '../../core/errors.ts';
import { counted } from '../../core/format.ts';
import { asPoSyncError, examine } from '../../operate/doctor/examine.ts';
import { type Finding, failure } from '../../operate/doctor/finding.ts';
import { findingsJson } from '../../operations/run-environment.ts';
import type { Tone } from '../../views/view.ts';
import { type CommonArgs, openConfig } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { formatOf, hanging, printable, printJson } from '../terminal/print.ts';

/**
 * `doctor`: shows each finding as soon as it is known, also where the configuration or Redis cannot be used.
 * 0: no failures; 1: something fails.
 */
export async function doctorCommand(args: CommonArgs, shell: Shell): Promise<number> {
  const findings: Finding[] = [];
  const report = (found: readonly Finding[]) => {
    findings.push(...found);
    if (!args.json) for (const one of found) shell.out(findingText(one, shell));
  };
  const opened = await openConfig(args, shell, { confirm: false }).catch(asPoSyncError);
  if (opened instanceof PoSyncError) report([failure('configuration', opened)]);
  else {
    const { env, signal } = shell;
    await examine(opened, { env, signal, confirm: args.confirm }, report);
  }
  const failed = findings.filter(({ state }) => state === 'fail').length;
  const warned = findings.filter(({ state }) => state === 'warn').length;
  const end =
    failed + warned === 0
      ? 'No problems found.'
      : `${failed} failed, ${counted(warned, 'warning')}.`;
  if (args.json) printJson(shell, findingsJson(findings));
  else shell.out(`\n${end}\n`);
  return failed > 0 ? 1 : 0;
}

const TONES: Record<Finding['state'], Tone> = {
  ok: 'good',
  warn: 'doubtful',
  fail: 'bad',
  skipped: 'quiet',
};

/** Where the message of a finding begins. */
const MESSAGE = 29;

function findingText({ check, state, message, remedy }: Finding, shell: Shell): string {
  const format = formatOf(shell);
  const { paint } = format;
  // Where it is not read on a terminal, such as with grep, each finding is one line.
  if (format.columns === undefined) {
    const text = [message, ...(remedy === undefined ? [] : [`→ ${remedy}`])]
      .join(' ')
      .replace(/\s*\n\s*/g, ' ');
    return `${state.padEnd(9)}${printable(check).padEnd(MESSAGE - 11)}  ${printable(text)}\n`;
  }
  const indent = ' '.repeat(MESSAGE);
  const fitted = (text: string, at: number) =>
    text
      .split('\n')
      .map((line) => hanging(printable(line), at, format))
      .join(`\n${' '.repeat(at)}`);
  const advice = remedy === undefined ? '' : `${indent}→ ${fitted(remedy, MESSAGE + 2)}\n`;
  const name = printable(check);
  // A message after a long name would begin at another place.
  const gap = name.length > MESSAGE - 10 ? `\n${indent}` : ' '.repeat(MESSAGE - 9 - name.length);
  return `${paint(TONES[state], state.padEnd(9))}${name}${gap}${fitted(message, MESSAGE)}\n${advice}`;
}
