import type { AllowList } from './authenticate.ts';
import type { Tasks } from './faults/open-tasks.ts';
import type { Planner } from './faults/plan-faults.ts';
import type { OrderStore } from './order-store.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { SandboxSettings, Tell } from './sandbox-options.ts';
import type { TokenStore } from './token-store.ts';

/** What answering a call needs; all of it belongs to one environment. */
export type Parts = {
  settings: SandboxSettings;
  allowed: AllowList;
  orders: OrderStore;
  tokens: TokenStore;
  /** Absent when nobody listens. */
  tell: Tell | undefined;
  /** Tells of a call that could not be answered as it should. */
  crashed: (error: Error) => void;
  plan: Planner | undefined;
  rehearsal: Rehearsal | undefined;
  tasks: Tasks;
  /** The addresses as callers see them, for the OpenAPI document. */
  addresses: () => { baseUrl: string; authUrl: string };
};
