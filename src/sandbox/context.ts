import type { AllowList } from './address.ts';
import type { AnswerOnce } from './answer-once.ts';
import type { OrderTable } from './database.ts';
import type { Exchanges, Redact } from './exchanges.ts';
import type { FaultControl } from './faults/fault-control.ts';
import type { Tasks } from './faults/rehearse.ts';
import type { ReadList } from './list.ts';
import type { Emit, SandboxSettings } from './sandbox-options.ts';
import type { TokenStore } from './token-store.ts';

/** Everything that answering a call needs, for one environment. */
export type Context = {
  settings: SandboxSettings;
  allowed: AllowList;
  orders: OrderTable;
  list: ReadList;
  /** Absent unless an idempotency key is demanded. */
  answerOnce: AnswerOnce | undefined;
  tokens: TokenStore;
  emit: Emit;
  faults: FaultControl;
  /** Absent without `record`. */
  exchanges: Exchanges | undefined;
  redact: Redact;
  tasks: Tasks;
  /** The addresses that callers use, for the OpenAPI document. */
  addresses: () => { baseUrl: string; authUrl: string };
};
