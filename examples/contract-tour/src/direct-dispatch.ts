import { type ToolOutcome, type ToolRequest, toolDispatcher } from '@hexagent/agent-core';
import { type Customers, lookUpCustomer } from './customer-lookup.ts';

/** Finds the tool by the name that the model used, checks the arguments, runs it. */
export function dispatchByHand(request: ToolRequest, customers: Customers): Promise<ToolOutcome> {
  const dispatcher = toolDispatcher({ tools: [lookUpCustomer], deps: { customers } });
  return dispatcher.dispatch(request);
}
