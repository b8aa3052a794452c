import type { AllowList } from './address.ts';
import type { Redact } from './exchanges.ts';
import type { FaultControl } from './faults/fault-control.ts';
import type { Tasks } from './faults/rehearse.ts';
import type { OrderStore } from './order-store.ts';
import type { OrderReader } from './read-order.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { AnsweredCall, Emit, SandboxSettings } from './sandbox-options.ts';
import type { TokenStore } from './token-store.ts';

/** Everything that answering a call needs, for one environment. */
export type Context = {
  settings: SandboxSettings;
  allowed: AllowList;
  readOrder: OrderReader;
  orders: OrderStore;
  tokens: TokenStore;
  /** Absent without a listener, so that calls build no events. */
  emit: Emit | undefined;
  /** Absent without a listener. */
  onCall: ((call: AnsweredCall) => void) | undefined;
  /** Reports a call that failed with an unexpected error. */
  crashed: (error: Error) => void;
  faults: FaultControl;
  rehearsal: Rehearsal | undefined;
  redact: Redact;
  tasks: Tasks;
  /** The addresses that callers use, for the OpenAPI document. */
  addresses: () => { baseUrl: string; authUrl: string };
};
