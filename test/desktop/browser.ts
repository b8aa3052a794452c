import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { makeTempFolder } from '../support/temp-folder.ts';
import { until } from '../support/until.ts';
import { openDevtools } from './devtools.ts';
import { programOf } from './programs.ts';

/** How somebody looks at a page. */
type Look = { width: number; height: number; dark?: boolean };

/** A page as a browser shows it. */
export type Shown = {
  /** What an expression gives within the page, as JSON can carry it. */
  evaluate<T>(expression: string): Promise<T>;
  /** Presses and releases a key. */
  press(key: keyof typeof KEYS): Promise<void>;
  /** Types a text where the focus is. */
  type(text: string): Promise<void>;
  /** Presses the space bar on a file input, and chooses a file in the dialog that opens. */
  choose(file: string): Promise<void>;
  /** What the browser reported: errors, and what the page's own policy blocked. */
  complaints: readonly string[];
};

/** Code, number and text of the keys that tests press. */
const KEYS = { Tab: ['Tab', 9, ''], Enter: ['Enter', 13, '\r'], ' ': ['Space', 32, ' '] } as const;

/** A Chromium without a window, in a separate profile. */
type Browser = AsyncDisposable & { show(address: string, look: Look): Promise<Shown> };

export async function openBrowser(): Promise<Browser> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await makeTempFolder());
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--remote-debugging-port=0',
  ];
  const args = [...flags, `--user-data-dir=${folder}`, '--no-first-run', 'about:blank'];
  const child = spawn(programOf('chromium'), args, { stdio: 'ignore', detached: true });
  stack.defer(async () => {
    const gone = once(child, 'exit');
    // Its helpers belong to its group.
    if (child.pid !== undefined && child.exitCode === null) {
      process.kill(-child.pid, 'SIGKILL');
      await gone;
    }
  });
  const portFile = path.join(folder, 'DevToolsActivePort');
  const lines = await until(
    'the browser',
    async () => (await readFile(portFile, 'utf8').catch(() => '')).split('\n')[1],
  );
  const port = (await readFile(portFile, 'utf8')).split('\n')[0];
  const devtools = stack.use(await openDevtools(`ws://127.0.0.1:${port}${lines}`));
  const kept = stack.move();

  async function show(address: string, { width, height, dark = false }: Look): Promise<Shown> {
    const page = await devtools.openPage();
    const complaints: string[] = [];
    page.on('Log.entryAdded', ({ entry }) => void complaints.push(entry?.text ?? ''));
    page.on('Runtime.exceptionThrown', () => void complaints.push('a script failed'));
    for (const domain of ['Page', 'Log', 'Runtime']) await page.call(`${domain}.enable`);
    const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 500 };
    await page.call('Emulation.setDeviceMetricsOverride', metrics);
    await page.call('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }],
    });
    await page.call('Emulation.setFocusEmulationEnabled', { enabled: true });
    const loaded = page.next('Page.loadEventFired');
    await page.call('Page.navigate', { url: address });
    await loaded;
    async function press(key: keyof typeof KEYS): Promise<void> {
      const [code, windowsVirtualKeyCode, text] = KEYS[key];
      const stroke = { key, code, windowsVirtualKeyCode };
      const down = text === '' ? { type: 'rawKeyDown' } : { type: 'keyDown', text };
      await page.call('Input.dispatchKeyEvent', { ...stroke, ...down });
      await page.call('Input.dispatchKeyEvent', { ...stroke, type: 'keyUp' });
    }
    async function choose(chosen: string): Promise<void> {
      await page.call('Page.setInterceptFileChooserDialog', { enabled: true });
      const opened = new Promise<number>((resolve) => {
        page.on('Page.fileChooserOpened', ({ backendNodeId = 0 }) => resolve(backendNodeId));
      });
      await press(' ');
      await page.call('DOM.setFileInputFiles', { files: [chosen], backendNodeId: await opened });
    }
    return {
      complaints,
      async evaluate<T>(expression: string) {
        const { result } = await page.call<{ result: { value: T } }>('Runtime.evaluate', {
          expression,
          returnByValue: true,
        });
        return result.value;
      },
      press,
      type: async (text) => void (await page.call('Input.insertText', { text })),
      choose,
    };
  }

  return { show, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
