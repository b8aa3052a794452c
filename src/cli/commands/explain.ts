import type { OrderHistory } from '../../operate/orders/explain-order.ts';
import { placeOf } from '../../views/next-step.ts';
import { orderView } from '../../views/order.ts';
import { viewText } from '../terminal/view-text.ts';
import type { View } from './definitions/operation-command.ts';

export const explainView: View<object, OrderHistory> = {
  text: (history, { context, format, now }) =>
    viewText(orderView(history, { now, ...placeOf(context.config) }), format),
};
