/**
 * A place in the file as it was dropped.
 * `line` is 1-based, a CSV header being line 1; `pointer` is a JSON pointer (RFC 6901) for JSON input.
 */
export type Place = { line: number; pointer?: string };
