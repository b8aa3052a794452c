import type { Step } from '../order/fixing.ts';

/** How text is emphasized. Color never carries information that the words do not. */
export type Tone = 'plain' | 'strong' | 'quiet' | 'good' | 'doubtful' | 'bad';

/** What a part of a text is about, where that has its page. `letters`: the filters of the list of dead letters. */
export type Subject =
  | { batch: string }
  | { order: string }
  | { letter: string }
  | { letters: Readonly<Record<string, string>> };

/** `share`: how much of all it is, from 0 to 1. */
export type Part = string | { text: string; tone?: Tone; about?: Subject; share?: number };

/** A text of one line or paragraph. */
export type Text = string | readonly Part[];

/** One thing that happened. `more`: what it says in detail; `link`: where more is shown. Milliseconds since 1970. */
export type HistoryEvent = {
  at: number;
  text: string;
  more?: readonly string[];
  link?: { text: string; about: Subject };
};

/** A column of a table. The rest says how it is fitted into few characters, see the table of the terminal. */
export type ViewColumn = {
  title: string;
  right?: boolean;
  cut?: 'start' | 'end';
  wish?: number;
  leaves?: number;
};

/** A part of what is shown of a thing. Each fact can have several lines. */
export type Block =
  | { kind: 'facts'; facts: readonly (readonly [name: string, ...lines: Text[]])[] }
  | { kind: 'table'; columns: readonly ViewColumn[]; rows: readonly (readonly Text[])[] }
  | { kind: 'list'; texts: readonly Text[] }
  | { kind: 'timeline'; events: readonly HistoryEvent[] }
  | { kind: 'steps'; lines: readonly Step[] }
  | { kind: 'section'; title: string; blocks: readonly Block[] };

/** What is shown of one thing, in a terminal and in a browser. */
export type View = { title: string; state: { text: string; tone: Tone }; blocks: readonly Block[] };

/** A column, and what it shows of a row. */
export type Column<Row> = ViewColumn & { of: (row: Row) => Text };

export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Block {
  return { kind: 'table', columns, rows: rows.map((row) => columns.map(({ of }) => of(row))) };
}

export function section(title: string, ...blocks: readonly Block[]): Block {
  return { kind: 'section', title, blocks };
}
