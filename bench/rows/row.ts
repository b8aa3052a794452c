import type { Line } from '../line.ts';
import type { Stage } from '../stage.ts';

/** One subject of the table. `--only` accepts its `name`. */
export type Row = { name: string; title: string; measure: (stage: Stage) => Promise<Line[]> };
