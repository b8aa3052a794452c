/** The answer of ZRANGE WITHSCORES as pairs. */
export function scored(flat: readonly string[]): [member: string, score: number][] {
  return flat.flatMap((member, i): [string, number][] =>
    i % 2 === 0 ? [[member, Number(flat[i + 1])]] : [],
  );
}
