/** A cron schedule of five fields in UTC: minute, hour, day of month, month, day of week. */
export interface CronSchedule {
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  days: ReadonlySet<number>;
  months: ReadonlySet<number>;
  weekdays: ReadonlySet<number>;
  /** Cron's odd rule: with both days restricted either one suffices. */
  eitherDay: boolean;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const SHORTHANDS: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const DAY_MS = 24 * 3600_000;
/** A 29th of February can be eight years away. */
const SEARCH_DAYS = 9 * 366;

/** Parses a schedule; returns an error message when it is invalid. */
export function parseCron(expression: string): CronSchedule | string {
  const text = SHORTHANDS[expression.trim().toLowerCase()] ?? expression;
  const fields = text.trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || minute === undefined || hour === undefined || day === undefined)
    return `${JSON.stringify(expression)} is not a schedule of five fields like "0 3 * * *"`;
  try {
    return {
      minutes: parseField(minute, 0, 59, []),
      hours: parseField(hour, 0, 23, []),
      days: parseField(day, 1, 31, []),
      months: parseField(month ?? "", 1, 12, MONTHS),
      weekdays: new Set([...parseField(weekday ?? "", 0, 7, WEEKDAYS)].map((n) => n % 7)),
      eitherDay: !day.startsWith("*") && !(weekday ?? "").startsWith("*"),
    };
  } catch (error) {
    return `${JSON.stringify(expression)}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Returns the first time strictly after `afterMs`; undefined for a date that never occurs (30 February). */
export function nextTime(schedule: CronSchedule, afterMs: number): number | undefined {
  const firstMs = Math.floor(afterMs / 60_000) * 60_000 + 60_000;
  const firstDay = Math.floor(firstMs / DAY_MS);
  for (let day = firstDay; day < firstDay + SEARCH_DAYS; day++) {
    if (!matchesDay(schedule, new Date(day * DAY_MS))) continue;
    const time = firstTimeOfDay(schedule, day === firstDay ? firstMs - day * DAY_MS : 0);
    if (time !== undefined) return day * DAY_MS + time;
  }
  return undefined;
}

function firstTimeOfDay(schedule: CronSchedule, fromMs: number): number | undefined {
  const from = fromMs / 60_000;
  for (let hour = Math.floor(from / 60); hour < 24; hour++) {
    if (!schedule.hours.has(hour)) continue;
    for (let minute = 0; minute < 60; minute++)
      if (schedule.minutes.has(minute) && hour * 60 + minute >= from) return (hour * 60 + minute) * 60_000;
  }
  return undefined;
}

function matchesDay(schedule: CronSchedule, date: Date): boolean {
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const day = schedule.days.has(date.getUTCDate());
  const weekday = schedule.weekdays.has(date.getUTCDay());
  return schedule.eitherDay ? day || weekday : day && weekday;
}

function parseField(text: string, min: number, max: number, names: readonly string[]): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [range = "", step, ...rest] = part.split("/");
    const every = step === undefined ? 1 : Number(step);
    if (rest.length > 0 || !Number.isInteger(every) || every < 1) throw new Error(`${part} is not a step like */15`);
    const [low, high] = parseRange(range, min, max, names, step !== undefined);
    for (let value = low; value <= high; value += every) values.add(value);
  }
  return values;
}

function parseRange(
  text: string,
  min: number,
  max: number,
  names: readonly string[],
  stepped: boolean,
): [low: number, high: number] {
  if (text === "*") return [min, max];
  const [from = "", to, ...rest] = text.split("-");
  const low = parseValue(from, min, max, names);
  // `5/15` means every 15 from 5.
  const high = to === undefined ? (stepped ? max : low) : parseValue(to, min, max, names);
  if (rest.length > 0 || high < low) throw new Error(`${text} is not a range from a smaller to a greater value`);
  return [low, high];
}

function parseValue(text: string, min: number, max: number, names: readonly string[]): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + min;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new Error(`${text || "nothing"} is not a value from ${min} to ${max}`);
  return value;
}
