import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fixNote, placeText, readFixNote } from '../../src/order/fixing.ts';

const batch = '20261121T071500Z-inbox-orders-3f2a91c0';

it('reads back the letter that it names, whatever the message before it', () => {
  const pointer = fc.string({ minLength: 1, maxLength: 60 }).map((text) => `/${text.replaceAll('\n', ' ')}`);
  const place = fc.oneof(
    fc.nat().map((line) => placeText({ line })),
    pointer.map((text) => placeText({ line: 1, pointer: text })),
  );
  fc.assert(
    fc.property(fc.string(), place, (message, at) => {
      expect(readFixNote(message.replaceAll(' of batch ', '') + fixNote({ place: at, batch }))).toEqual({
        place: at,
        batch,
      });
    }),
  );
});

it.each([
  '',
  'is empty',
  `(line 3 of batch ${batch})`,
  ` (line x of batch ${batch})`,
  ` (line 3 of batch a/b)`,
  ` (line 3 of batch ${batch}) `,
])('finds none in %j', (message) => expect(readFixNote(message)).toBeUndefined());
