import { expect, it } from 'vitest';
import { createLiveScreen } from '../../../src/cli/terminal/live-view.ts';

function screenOf(columns = 80) {
  const writes: string[] = [];
  const size = { columns, waiting: 0 };
  const stream = {
    write: (text: string) => void writes.push(text),
    get writableLength() {
      return size.waiting;
    },
  };
  return { writes, size, screen: createLiveScreen(stream, () => size.columns) };
}

it('writes text as it is while nothing is shown', () => {
  const { writes, screen } = screenOf();
  screen.target.write('a line\n');
  screen.show([]);
  expect(writes).toEqual(['a line\n']);
});

it('repaints in place, and only if something changed', () => {
  const { writes, screen } = screenOf();
  screen.show(['one', 'two']);
  screen.show(['one', 'two']);
  screen.show(['three']);
  screen.show([]);
  expect(writes).toEqual(['one\ntwo\n', '\r\u001B[2A\u001B[Jthree\n', '\r\u001B[1A\u001B[J']);
});

it('writes text above the shown lines, in one write', () => {
  const { writes, screen } = screenOf();
  screen.show(['under way']);
  screen.target.write('log line\n');
  expect(writes.at(-1)).toBe('\r\u001B[1A\u001B[Jlog line\nunder way\n');
});

it('replaces its lines after the terminal became narrower', () => {
  const { writes, size, screen } = screenOf();
  screen.show([`\u001B[31m${'x'.repeat(50)}\u001B[39m`]);
  size.columns = 20;
  screen.show([]);
  expect(writes.at(-1)).toBe('\r\u001B[3A\u001B[J');
});

it('repaints nothing while the terminal does not keep up', () => {
  const { writes, size, screen } = screenOf();
  size.waiting = 1_000_000;
  screen.show(['one']);
  expect(writes).toEqual([]);
});
