import { findNearest } from '../../base/nearest.ts';

/** What people call a time but is no zone, since it is only half of a year; and names of before 1993. */
const spoken: Readonly<Record<string, string>> = {
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  PT: 'America/Los_Angeles',
  MDT: 'America/Denver',
  MT: 'America/Denver',
  CST: 'America/Chicago',
  CDT: 'America/Chicago',
  CT: 'America/Chicago',
  EDT: 'America/New_York',
  ET: 'America/New_York',
  BST: 'Europe/London',
  CEST: 'Europe/Berlin',
  MEZ: 'Europe/Berlin',
  MESZ: 'Europe/Berlin',
  EEST: 'Europe/Helsinki',
  MSK: 'Europe/Moscow',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  KST: 'Asia/Seoul',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  Z: 'UTC',
};

/** Names that the list of Intl leaves out because they are older or newer ones of the same zone. */
const alsoValid = [
  'UTC',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Ho_Chi_Minh',
  'Europe/Kyiv',
  'America/Buenos_Aires',
];

/** The zone that was probably meant by a name that is none, or undefined: a city, a spoken name, or a typing error. */
export function nearestZone(name: string): string | undefined {
  const wanted = name.trim();
  const known = spoken[wanted.toUpperCase()];
  if (known !== undefined) return known;
  const zones = [...alsoValid, ...Intl.supportedValuesOf('timeZone')];
  const cities = new Map(zones.map((zone) => [zone.slice(zone.lastIndexOf('/') + 1), zone]));
  const city = wanted.slice(wanted.lastIndexOf('/') + 1).replaceAll(' ', '_');
  const sameCity = [...cities].find(([each]) => each.toLowerCase() === city.toLowerCase());
  if (sameCity) return sameCity[1];
  const near = findNearest(wanted, zones);
  if (near !== undefined || city.length < 4) return near;
  const nearCity = findNearest(city, cities.keys());
  return nearCity === undefined ? undefined : cities.get(nearCity);
}
