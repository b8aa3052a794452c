import { expect, it } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { openPrivateFile, removeLeftUploads } from '../../../src/operate/uploads/private-file.ts';
import { createShelf, MOST_BYTES } from '../../../src/operate/uploads/upload-shelf.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const MB = Buffer.alloc(1024 * 1024, 'a');

async function* tooMuch(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i <= MOST_BYTES / MB.length; i += 1) yield MB;
}

it.each([
  [['inbox', 'export'], 'Drop it into the inbox.'],
  [
    ['export'],
    'Split it into smaller files. For your operator: a source of type inbox takes files of any size.',
  ],
])(
  'with sources of type %s, a file that is too large to be uploaded has a way that exists',
  async (types, remedy) => {
    await using folder = await makeTempFolder();
    const sources = types.map((type) => ({ name: type, type }));
    const context = {
      config: { data: folder.path, sources },
      store: { time: { now: () => 0 } },
      clock: systemClock,
    };
    await using shelf = createShelf(context as never);
    const received = { source: 'export', name: 'a.csv', content: tooMuch() };
    await expect(shelf.put(received, 'anna')).rejects.toMatchObject({
      code: 'upload-too-large',
      remedy,
    });
    expect(shelf.all()).toEqual([]);
  },
);

it('an upload is stored also when the empty folder of uploads is removed at that moment', async () => {
  await using folder = await makeTempFolder();
  const config = { data: folder.path };
  // Without a second try, a few of so many fail.
  for (let round = 0; round < 2_000; round += 1) {
    const [file] = await Promise.all([
      openPrivateFile('a.csv', config),
      ...Array.from({ length: 3 }, () => removeLeftUploads(config, 60_000)),
    ]);
    await file[Symbol.asyncDispose]();
  }
}, 60_000);
