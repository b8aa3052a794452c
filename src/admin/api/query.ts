import { PoSyncError } from '../../core/errors.ts';

/** Items of a page. */
export const PAGE = 50;

/** Longest value of a parameter. */
const LONGEST = 1_000;

export type Query = ReturnType<typeof readQuery>;

/**
 * Reads the parameters of a request and refuses those that its route does not know. One with an empty value counts as
 * absent, as forms send it. PoSyncError `parameter-wrong`.
 */
export function readQuery({ searchParams }: URL, known: readonly string[]) {
  for (const [name, value] of searchParams) {
    if (!known.includes(name))
      throw wrong(
        shown(name),
        `Unknown parameter ${shown(name)}.`,
        `Use ${known.join(', ') || 'none'}.`,
      );
    if (value.length > LONGEST) throw wrong(name, `${name} is longer than ${LONGEST} characters.`);
  }

  function text(name: string): string | undefined {
    return searchParams.get(name) || undefined;
  }

  function oneOf<const Value extends string>(
    name: string,
    values: readonly Value[],
  ): Value | undefined {
    const given = text(name);
    const found = values.find((value) => value === given);
    if (given !== undefined && found === undefined) {
      throw wrong(name, `${name} cannot be ${given}.`, `Use one of ${values.join(', ')}.`);
    }
    return found;
  }

  function flag(name: string): boolean {
    return oneOf(name, ['true', 'false']) === 'true';
  }

  function whole(name: string): number | undefined {
    const given = text(name);
    if (given === undefined) return undefined;
    if (!/^\d{1,15}$/.test(given)) throw wrong(name, `${name} must be a whole number.`);
    return Number(given);
  }

  return { text, oneOf, flag, whole, days: () => daysIn(text) };
}

/** The first and, excluded, the last millisecond; undefined without a limit. */
type Range = { since?: number; until?: number };

/** What the days `from` and `to` include, in the time zone `zone`, by default UTC. */
function daysIn(text: (name: string) => string | undefined): Range {
  const offsetAt = offsetIn(text('zone') ?? 'UTC');
  const [from, to] = ['from', 'to'].map((name) => dayIn(offsetAt, name, text(name)));
  if (from && to && from.since >= to.until) throw wrong('to', 'to must not be before from.');
  return { ...(from && { since: from.since }), ...(to && { until: to.until }) };
}

type OffsetAt = (at: number) => number;

function dayIn(
  offsetAt: OffsetAt,
  name: string,
  given: string | undefined,
): Required<Range> | undefined {
  if (given === undefined) return undefined;
  const start = /^\d{4}-\d\d-\d\d$/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(start)) throw wrong(name, `${name} must be a date, such as 2026-11-21.`);
  // The offset may change on that day.
  const [since = start, until = start] = [start, start + DAY].map(
    (at) => at - offsetAt(at - offsetAt(at)),
  );
  return { since, until };
}

const DAY = 86_400_000;

/** How far the clocks of a time zone are ahead of UTC at a time; both in milliseconds. */
function offsetIn(zone: string): OffsetAt {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch {
    throw wrong('zone', 'zone must be a time zone, such as Europe/Berlin.');
  }
  return (at) => {
    const text = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(text) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  };
}

/** A name that looks like one; anything else in an address may be a secret. */
function shown(name: string): string {
  return /^[A-Za-z]{1,20}$/.test(name) ? name : '…';
}

function wrong(name: string, message: string, remedy?: string): PoSyncError {
  return new PoSyncError('parameter-wrong', message, {
    ...(remedy === undefined ? {} : { remedy }),
    facts: { parameter: name },
  });
}

/** Filters without those that are not given. */
export function given<Filter extends object>(
  filter: { [Key in keyof Filter]: Filter[Key] | undefined },
): Filter {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as Filter;
}
