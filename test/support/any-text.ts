import fc from 'fast-check';

/** Texts of any code points, lone surrogates too. The `binary` unit of fast-check takes seconds to build. */
export const anyText = (bounds: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.nat(0x10ffff)), bounds)
    .map((points) => String.fromCodePoint(...points));
