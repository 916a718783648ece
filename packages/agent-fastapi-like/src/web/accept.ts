/** Whether an `Accept` asks for events, and not rather for JSON. Source: RFC 9110, section 12.5.1. */
export function prefersEvents(accept = ''): boolean {
  const weights = new Map(accept.split(',').map(weightOf));
  const events = weights.get('text/event-stream') ?? 0;
  return events > 0 && events >= (weights.get('application/json') ?? 0);
}

function weightOf(range: string): readonly [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, weight === undefined ? 1 : Number(weight.slice(2))];
}
