/** An amount of money, exact: a decimal text such as `"0.00125"`, in whole units of its currency. */
export type Cost = {
  readonly amount: string;
  /** As the prices name it: `USD`. Amounts of two currencies are never added. */
  readonly currency: string;
};

/** Digits behind the point that are counted: sums are whole numbers of a millionth of a millionth of the currency's unit. */
export const COST_DIGITS = 12;

const AMOUNT = /^\d{1,15}(\.\d{1,12})?$/;

/** An amount as a whole number of `10^-12` units; undefined for what is no amount. */
export function picosOf(amount: string): bigint | undefined {
  if (!AMOUNT.test(amount)) return undefined;
  const [whole, fraction = ''] = amount.split('.') as [string, string?];
  return BigInt(whole + fraction.padEnd(COST_DIGITS, '0'));
}

/** The text of an amount: without zeros at its end. */
export function amountOf(picos: bigint): string {
  const digits = picos.toString().padStart(COST_DIGITS + 1, '0');
  const whole = digits.slice(0, -COST_DIGITS);
  const fraction = digits.slice(-COST_DIGITS).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The sum; undefined when the currencies differ or one of the two is no amount. */
export function addCost(left: Cost, right: Cost): Cost | undefined {
  const [one, other] = [picosOf(left.amount), picosOf(right.amount)];
  if (one === undefined || other === undefined || left.currency !== right.currency)
    return undefined;
  return { amount: amountOf(one + other), currency: left.currency };
}

/** Whether a sum has reached a limit; undefined when the two cannot be compared. */
export function reachesCost(sum: Cost, limit: Cost): boolean | undefined {
  const [one, other] = [picosOf(sum.amount), picosOf(limit.amount)];
  if (one === undefined || other === undefined || sum.currency !== limit.currency) return undefined;
  return one >= other;
}
