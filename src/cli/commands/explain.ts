import type { OrderHistory } from '../../operate/orders/explain-order.ts';
import type { AtApi } from '../../operations/run-environment.ts';
import { placeOf } from '../../views/next-step.ts';
import { orderView } from '../../views/order.ts';
import { viewText } from '../terminal/view-text.ts';
import type { View } from './definitions/operation-command.ts';

/** Its history; with `--list`, also what the API's list has now. */
export const explainView: View<object, { history: OrderHistory; atApi?: AtApi }> = {
  text: ({ history, atApi }, { context, format, now }) =>
    viewText(orderView(history, { now, atApi, ...placeOf(context.config) }), format),
};
