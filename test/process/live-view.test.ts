import { describe, expect, it } from 'vitest';
import { onTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';
import { csvOf, openWorkplace } from '../support/workplace.ts';

const ESCAPE = '\u001B';

/** The content of a terminal of unlimited height after these bytes: enough of one for what the view writes. */
function screenAfter(bytes: string): string[] {
  const lines = [''];
  let row = 0;
  for (const [piece] of bytes.replaceAll(ESCAPE, '␛').matchAll(/␛\[\d*[A-Za-z]|\r|\n|[^␛\r\n]+/g)) {
    const [, times, action] = /^␛\[(\d*)([A-Za-z])$/.exec(piece) ?? [];
    if (action === 'A') row = Math.max(0, row - Number(times));
    else if (action === 'J') lines.splice(row, lines.length, '');
    else if (piece === '\n') row += 1;
    else if (piece !== '\r' && action === undefined) lines[row] = (lines[row] ?? '') + piece;
    lines[row] ??= '';
  }
  return lines;
}

/** So slow that the progress is shown, however seldom the view is drawn. */
const SLOW = { faults: [{ kind: 'delay', by: 500 }] };

describe('start on a terminal', () => {
  it('shows a batch in progress, then one line for it, with log lines above, until Ctrl-C', async () => {
    const more = { sandbox: { record: true }, delivery: ', concurrency: 2' };
    await using place = await openWorkplace({ faults: SLOW, ...more });
    const { type, ended, out } = onTerminal(place, 'start', { NO_COLOR: '1' });
    await until('it is ready', () => out().includes('daemon ready'));
    await place.drop('orders.csv', `${csvOf(60)}PO-99,NEW,A,none\n`);
    await until('the progress is shown', () => /orders\.csv.* [█░]{8} \d+\/61/.test(out()));
    await place.setFaults([]);
    await until('its last line', () => out().includes('61 orders in'));
    type('\u0003');
    expect(await ended).toBe(0);
    const lines = screenAfter(out());
    const last = lines.find((line) => line.startsWith('! orders.csv'));
    expect(last).toMatch(/61 orders in \d+ s: 60 accepted, 1 invalid; 1 needs a person$/);
    // The path does not fit next to it.
    expect(lines[lines.indexOf(last ?? '') + 1]).toMatch(/^ {2}\/.*\/report\.html$/);
    expect(lines.filter((line) => /[█░]/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.includes('daemon stopped'))).toHaveLength(1);
    // No line is torn: each is a log line, the last line of a batch, or what the terminal itself echoes.
    expect(lines.filter((line) => !/^(\^C)?(\[?\d\d:\d\d:\d\d|! | {2}\/|$)/.test(line))).toEqual(
      [],
    );
  });

  it('is plain on a terminal that cannot move its cursor, and with --json', async () => {
    await using place = await openWorkplace();
    await place.drop('orders.csv', csvOf(300));
    const dumb = onTerminal(place, 'start --once', { NO_COLOR: '1', TERM: 'dumb' });
    expect(await dumb.ended).toBe(0);
    expect(dumb.out()).toContain('batch finished');
    expect(dumb.out()).not.toContain(ESCAPE);
    const json = onTerminal(place, 'start --once --json 2>/dev/null');
    expect(await json.ended).toBe(0);
    expect(JSON.parse(json.out())).toMatchObject({ exitCode: 0 });
  });
});
