const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const EMAIL =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i;
const URI = /^[a-z][a-z0-9+.-]*:[^\s"<>\\^`{|}]+$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const IPV4 = /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}$/;

/** The formats that are checked. The list is closed: another `format` is a definition problem, not a remark. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) =>
    isDate(text.slice(0, 10)) && /t/i.test(text.charAt(10)) && TIME.test(text.slice(11)),
  date: isDate,
  time: (text) => TIME.test(text),
  email: (text) => text.length <= 254 && EMAIL.test(text),
  uri: (text) => URI.test(text),
  uuid: (text) => UUID.test(text),
  ipv4: (text) => IPV4.test(text),
};

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
}
