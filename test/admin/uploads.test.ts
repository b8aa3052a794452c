import { expect, it } from 'vitest';
import { withinLimit } from '../../src/admin/api/uploads.ts';

const context = { stopping: new AbortController().signal };

it('a preview that takes too long is stopped, and its error says so', async () => {
  const preview = withinLimit(
    context,
    ({ stopping }) =>
      new Promise((_, refuse) => stopping.addEventListener('abort', () => refuse(stopping.reason))),
    1,
  );
  await expect(preview).rejects.toMatchObject({
    code: 'upload-too-slow',
    message: 'Reading the file and comparing its orders takes more than 0.001 s.',
  });
});

it('another error of a preview is passed on', async () => {
  const error = new Error('other');
  await expect(withinLimit(context, () => Promise.reject(error))).rejects.toBe(error);
});
