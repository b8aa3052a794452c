import { it } from 'vitest';
import { openPrivateFile, removeLeftUploads } from '../../../src/operate/uploads/private-file.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

it('an upload is stored also when the empty folder of uploads is removed at that moment', async () => {
  await using folder = await makeTempFolder();
  const config = { data: folder.path };
  for (let round = 0; round < 300; round += 1) {
    const [file] = await Promise.all([
      openPrivateFile('a.csv', config),
      ...Array.from({ length: 3 }, () => removeLeftUploads(config, 60_000)),
    ]);
    await file[Symbol.asyncDispose]();
  }
});
